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

open();
// The engine and the weights stand behind this script in the file.
document.addEventListener('DOMContentLoaded', () => {
  app.startEngine();
  publishInterface();
  document.dispatchEvent(new Event('engine-started'));
});
