import { app } from './app.js';
import { publishInterface } from './interface.js';
import { acceptDisclaimer, disclaimerAccepted, showDisclaimer } from './views/disclaimer.js';
import { showShell } from './shell.js';
import { currentLanguage, setLanguage } from './texts.js';

setLanguage(currentLanguage());

/** The page, or what stands before it on the first visit. */
function open() {
  if (disclaimerAccepted()) showShell();
  else {
    showDisclaimer(() => {
      acceptDisclaimer();
      showShell();
    }, open);
  }
}

app.startEngine();
publishInterface();
open();
