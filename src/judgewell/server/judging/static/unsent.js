// The answer that is under way, kept on this device until the server has it. Some browsers refuse storage: then an
// answer lives only as long as its page.

import { forget, recall, store } from "./storage.js";

const NAME = "judgewell.unsent";

export function keepUnsent(step, body) {
  store(NAME, { step, body });
}

export function dropUnsent() {
  forget(NAME);
}

// The body kept for this step, or null; one for another step is of no use and goes.
export function unsentFor(step) {
  const kept = recall(NAME);
  if (kept === null) return null;
  if (step && kept.step === step) return kept.body;
  dropUnsent();
  return null;
}
