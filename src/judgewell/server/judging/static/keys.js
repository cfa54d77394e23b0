// Keys: every element with data-key is pressed, chosen or entered by it. While somebody types in a field only Escape
// (leave the field) and Control+Enter (go on) mean anything. A key that several questions have is for the one in focus.

import { currentSheet } from "./sheet.js";

export function startKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || event.repeat || currentSheet().inert) return;
    if (typing(event.target)) whileTyping(event);
    else if (!event.ctrlKey && !event.metaKey && !event.altKey) pressed(event);
  });
}

function typing(target) {
  return target.matches("textarea, select, input[type=text], [contenteditable]");
}

function whileTyping(event) {
  if (event.key === "Escape") event.target.blur();
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    event.target.form?.requestSubmit(event.target.form.querySelector("button[value=next]"));
  }
}

function pressed(event) {
  const { key, target } = event;
  if (key === "Enter" && target.matches("button, a, summary")) return;
  if (key.startsWith("Arrow") && target.matches("input, [tabindex]")) return;
  const wanted = key.toLowerCase();
  const matches = [...currentSheet().querySelectorAll("[data-key]")].filter(
    (element) => element.dataset.key.toLowerCase() === wanted && !element.hidden && !element.closest("[hidden]"),
  );
  const match = matches.find((element) => element.closest("fieldset")?.contains(target)) ?? matches[0];
  if (match) {
    event.preventDefault();
    use(match);
  } else if (/^[0-9]$/.test(key)) {
    currentSheet().querySelector("[data-digits]")?.focus(); // the digit itself lands in the field
  }
}

function use(element) {
  element.focus();
  if (typing(element)) element.select();
  else element.click();
}
