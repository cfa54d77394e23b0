// The owner's pages live: the inside is asked for every few seconds, and only what changed is put in place.
// Without this script everything works by reload.

import { sortAgain, startSorting } from "./sorting.js";
import { localTimes } from "./times.js";

const EVERY = 5000;
const LONGEST = 60000;
const main = document.getElementById("main");
const status = document.getElementById("live");
const shown = new Map(); // section id → its HTML as the server sent it
let tag = null;
let wait = EVERY;
let timer = null;

function say(state) {
  if (status.dataset.state === state) return;
  status.dataset.state = state;
  status.textContent = status.dataset[state];
}

async function look() {
  clearTimeout(timer);
  if (document.visibilityState !== "visible") return say("paused");
  const headers = { "X-Fragment": "1" };
  if (tag) headers["If-None-Match"] = tag;
  try {
    const response = await fetch(location.href, { headers, cache: "no-store" });
    if (response.status === 401 || response.status === 403) return location.reload();
    if (response.status === 200) {
      tag = response.headers.get("ETag");
      place(await response.text());
    } else if (response.status !== 304) {
      throw new Error(String(response.status));
    }
    wait = EVERY;
    say("live");
  } catch {
    wait = Math.min(wait * 2, LONGEST);
    say("lost");
  }
  timer = setTimeout(look, wait);
}

// Sections that are new or changed, one by one; those that somebody is typing in wait for the next time.
function place(html) {
  const made = new DOMParser().parseFromString(`<main>${html}</main>`, "text/html");
  const sections = [...made.querySelectorAll("main > section[data-live]")];
  let before = null;
  for (const fresh of sections) {
    const old = document.getElementById(fresh.id);
    const text = fresh.outerHTML;
    if (!old) {
      if (before) before.after(fresh);
      else main.prepend(fresh);
      shown.set(fresh.id, text);
      prepare(fresh);
    } else if (shown.get(fresh.id) !== text && !isTypedIn(old)) {
      swap(old, fresh);
      shown.set(fresh.id, text);
    }
    before = document.getElementById(fresh.id);
  }
  const kept = new Set(sections.map((section) => section.id));
  for (const old of main.querySelectorAll(":scope > section[data-live]")) if (!kept.has(old.id)) old.remove();
}

function isTypedIn(section) {
  const at = document.activeElement;
  if (at && section.contains(at) && at.matches("input:not([type=hidden])")) return true;
  return [...section.querySelectorAll("details.ask[open] input")].some((field) => field.value !== field.defaultValue);
}

// Put the new section in the old one's place: open details, order, focus and how far tables are scrolled stay.
function swap(old, fresh) {
  const open = [...old.querySelectorAll("details[open][id]")].map((details) => details.id);
  const scrolled = [...old.querySelectorAll(".scroll")].map((box) => [box.scrollLeft, box.scrollTop]);
  const focused = old.contains(document.activeElement) ? pathTo(old, document.activeElement) : null;
  const orders = [...old.querySelectorAll("table[id][data-order]")].map((table) => [table.id, table.dataset.order]);
  const top = window.scrollY;
  old.replaceWith(fresh);
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  prepare(fresh);
  for (const [id, order] of orders) sortAgain(document.getElementById(id), order);
  [...fresh.querySelectorAll(".scroll")].forEach((box, at) => {
    if (scrolled[at]) [box.scrollLeft, box.scrollTop] = scrolled[at];
  });
  if (focused) focusAt(fresh, focused);
  if (window.scrollY !== top) window.scrollTo(window.scrollX, top);
}

// Where the focus is: the element's id or link, or its kind and its words.
function pathTo(section, element) {
  const alike = [...section.querySelectorAll(element.tagName)];
  const words = element.textContent;
  return { tag: element.tagName, id: element.id, words, among: alike.filter((one) => one.textContent === words).indexOf(element) };
}

function focusAt(section, { tag: name, id, words, among }) {
  const element = id ? document.getElementById(id) : [...section.querySelectorAll(name)].filter((one) => one.textContent === words)[among];
  element?.focus({ preventScroll: true });
}

function prepare(section) {
  localTimes(section);
  startSorting(section);
}

for (const section of main.querySelectorAll(":scope > section[data-live]")) prepare(section);
document.addEventListener("visibilitychange", look);
window.addEventListener("online", look);
timer = setTimeout(look, 1000);
