// The sheet in <main>: putting the next one in its place, with focus and scroll where a reader expects them.

export function currentSheet() {
  return document.getElementById("sheet");
}

export function showSheet(html) {
  const before = currentSheet();
  const scrolled = scrolls(before);
  document.getElementById("main").innerHTML = html;
  const sheet = currentSheet();
  document.title = sheet.dataset.title;
  const same = sheet.dataset.step !== "" && sheet.dataset.step === before.dataset.step;
  if (same) restore(sheet, scrolled);
  else window.scrollTo(0, 0);
  const problem = sheet.querySelector("#problem");
  const goal = wrongField(sheet) ?? problem ?? sheet.querySelector("#title");
  goal.focus({ preventScroll: true });
  if (problem) goal.scrollIntoView({ block: "nearest" });
  problem?.scrollIntoView({ block: "nearest" });
}

// The field that the problem is about: of a group of choices the one that is chosen, or the first.
function wrongField(sheet) {
  const wrong = sheet.querySelector('[aria-invalid="true"]');
  return wrong?.querySelector("input:checked") ?? wrong?.querySelector("input") ?? wrong;
}

function scrolls(sheet) {
  const inner = [...sheet.querySelectorAll(".document-body")].map((pane) => pane.scrollTop);
  return { page: window.scrollY, inner };
}

function restore(sheet, { page, inner }) {
  window.scrollTo(0, page);
  sheet.querySelectorAll(".document-body").forEach((pane, number) => {
    pane.scrollTop = inner[number] ?? 0;
  });
}
