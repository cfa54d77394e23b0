// What was typed or chosen but not sent yet, so that a reload loses nothing.

import { forget, recall, store } from "./storage.js";

const NAME = "judgewell.draft";
const OURS = new Set(["step", "action"]);

export function keepDraft(sheet) {
  const form = sheet.querySelector("form.answer");
  if (!form) return;
  const fields = [...new FormData(form)].filter(([name]) => !OURS.has(name));
  store(NAME, { step: sheet.dataset.step, fields });
}

export function dropDraft() {
  forget(NAME);
}

export function restoreDraft(sheet) {
  const kept = recall(NAME);
  const form = sheet.querySelector("form.answer");
  if (!form || kept === null || kept.step !== sheet.dataset.step) return;
  for (const [name, value] of kept.fields) {
    const boxes = form.querySelectorAll(`[name="${CSS.escape(name)}"]`);
    for (const box of boxes) {
      if (box.type === "radio" || box.type === "checkbox") box.checked ||= box.value === value;
      else box.value = value;
    }
  }
}
