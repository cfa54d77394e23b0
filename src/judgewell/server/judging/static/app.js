// The page's conductor: what is sent goes through here, and each new sheet is set up here. Without scripts the same
// forms are sent by the browser and the server answers with whole pages.

import { startAlive, stopAlive } from "./alive.js";
import { Clock } from "./clock.js";
import { dropDraft, keepDraft, restoreDraft } from "./draft.js";
import { startKeys } from "./keys.js";
import { deliver, fetchPage } from "./send.js";
import { currentSheet, showSheet } from "./sheet.js";
import { closeBanner, openBanner, setStatus } from "./status.js";
import { dropUnsent, keepUnsent, unsentFor } from "./unsent.js";
import { startWidgets } from "./widgets.js";

let clock = null;
let sending = false;

function start() {
  const sheet = currentSheet();
  const step = sheet.dataset.step;
  restoreDraft(sheet);
  startWidgets(sheet);
  clock = new Clock(step);
  startAlive(sheet, {
    elsewhere: () => openBanner("elsewhere", "follow", refresh),
    away: () => openBanner("away"),
    lost: refresh,
  });
  if (sheet.dataset.kind === "come_back") comeBack(sheet);
  sheet.addEventListener("input", (event) => {
    if (sending || !event.target.name) return; // what has no name is not part of the answer
    setStatus("unsaved");
    keepDraft(sheet);
  });
}

// Whoever waits for work need not ask for it: the page looks again by itself, not all at the same moment.
function comeBack(sheet) {
  const wait = 45000 + 30000 * Math.random();
  setTimeout(() => currentSheet() === sheet && !sending && sheet.querySelector("form")?.requestSubmit(), wait);
}

// The form's fields, the button that was pressed, and the time.
function contents(form, button) {
  const fields = new URLSearchParams(new FormData(form));
  if (button?.name) fields.append(button.name, button.value);
  if (form.elements.step) fields.set("step", form.elements.step.value);
  const { active, idle } = clock.seconds();
  fields.set("active", active.toFixed(1));
  fields.set("idle", idle.toFixed(1));
  if (currentSheet().dataset.highlighted) fields.set("highlight", "1");
  return fields.toString();
}

// Only one answer is under way at a time; it is kept on this device until the server has it.
async function send(body) {
  if (sending) return;
  sending = true;
  const sheet = currentSheet();
  const step = sheet.dataset.step;
  keepUnsent(step, body);
  sheet.setAttribute("aria-busy", "true");
  stopAlive();
  const slow = setTimeout(() => setStatus("saving"), 250);
  const answer = await deliver(body, {
    failed: (retryNow) => {
      clearTimeout(slow);
      sheet.inert = true;
      setStatus("unsaved");
      openBanner("offline", "again", retryNow);
    },
  });
  clearTimeout(slow);
  dropUnsent();
  closeBanner();
  sending = false;
  if (answer.status === 422) {
    setStatus("unsaved");
  } else {
    dropDraft();
    clock.forget();
    setStatus(answer.status === 200 ? "saved" : "");
  }
  clock.stop();
  showSheet(answer.html);
  start();
}

async function refresh() {
  if (sending) return;
  const answer = await fetchPage();
  if (answer === null) return;
  closeBanner();
  setStatus("");
  clock.stop();
  showSheet(answer.html);
  start();
}

document.addEventListener("submit", (event) => {
  if (event.target.getAttribute("action") !== "/work") return;
  event.preventDefault();
  send(contents(event.target, event.submitter));
});

// The second click of a double click would answer the next page.
document.addEventListener("click", (event) => {
  if (event.detail > 1 && event.target.closest("button[name=action], button[name=place]")) event.preventDefault();
});

// A page that the browser kept from before may be out of date.
window.addEventListener("pageshow", (event) => {
  if (event.persisted) refresh();
});

startKeys();
start();

// An answer that was given before the page was closed or reloaded, and of which no word came back.
const unsent = unsentFor(currentSheet().dataset.step);
if (unsent !== null) send(unsent);
