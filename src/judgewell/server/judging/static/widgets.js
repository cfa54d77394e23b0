// The small helpers of a sheet: each finds its own elements and does nothing where there are none.

import { startSlider } from "./slider.js";
import { startHighlight } from "./highlight.js";
import { recall, store } from "./storage.js";

const FOLDS = "judgewell.folds";

export function startWidgets(sheet) {
  startSlider(sheet);
  startHighlight(sheet);
  startCounters(sheet);
  startCopy(sheet);
  startProblem(sheet);
  startFolds(sheet);
}

function startCounters(sheet) {
  for (const line of sheet.querySelectorAll("[data-counts]")) {
    const field = sheet.querySelector(`#${line.dataset.counts}`);
    const count = () => {
      const letters = [...field.value.trim()].length;
      line.textContent = line.dataset.words.replace("{count}", letters).replace("{least}", line.dataset.least);
      line.classList.toggle("enough", letters >= Number(line.dataset.least));
    };
    field.addEventListener("input", count);
    count();
  }
}

function startCopy(sheet) {
  for (const button of sheet.querySelectorAll("[data-copy]")) {
    if (!navigator.clipboard) continue; // only over https and on this machine
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.querySelector("span").textContent = button.dataset.copied;
    });
  }
}

// What is said of a field goes away when the field is answered anew; of a comment, when it is long enough.
function startProblem(sheet) {
  const problem = sheet.querySelector("#problem");
  const wrong = sheet.querySelector('[aria-describedby~="problem"]');
  if (!problem || !wrong) return;
  const least = Number(sheet.querySelector(`[data-counts="${wrong.id}"]`)?.dataset.least ?? 0);
  const answered = () => {
    if (least && [...wrong.value.trim()].length < least) return;
    wrong.removeEventListener("input", answered);
    problem.remove();
    for (const field of [wrong, ...wrong.querySelectorAll("[aria-invalid]")]) field.removeAttribute("aria-invalid");
    const described = wrong.getAttribute("aria-describedby").split(" ").filter((id) => id !== "problem");
    if (described.length) wrong.setAttribute("aria-describedby", described.join(" "));
    else wrong.removeAttribute("aria-describedby");
  };
  wrong.addEventListener("input", answered);
}

// The topic and the help stay open or closed as the assessor left them; on a phone the topic begins closed.
function startFolds(sheet) {
  const folds = recall(FOLDS) ?? {};
  for (const fold of sheet.querySelectorAll("details[id]")) {
    const left = folds[fold.id];
    if (typeof left === "boolean") fold.open = left;
    fold.querySelector("summary").addEventListener("click", () => {
      store(FOLDS, { ...recall(FOLDS), [fold.id]: !fold.open });
    });
  }
}
