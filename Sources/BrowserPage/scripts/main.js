import { app } from './app.js';
import facts from './facts.js';
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
      showShell(true);
    }, open);
  }
}

// A page on a host of its own can be installed; one that is opened as a file needs no worker to be there again.
if (facts.isSite && 'serviceWorker' in navigator) {
  navigator.serviceWorker.controller?.postMessage('opened');
  navigator.serviceWorker.register('service-worker.js').catch(() => {});
}
app.startEngine();
publishInterface();
open();
