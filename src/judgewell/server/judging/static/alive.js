// The open page reports itself, so that the assessor keeps the unit, and learns whether another window has gone on.

let timer = null;
let report = () => {};

document.addEventListener("visibilitychange", () => report());

export function startAlive(sheet, actions) {
  stopAlive();
  const every = Number(sheet.dataset.alive);
  if (!(every > 0)) return;
  report = () => sign(sheet.dataset.step, actions);
  timer = setInterval(() => report(), every * 1000);
}

export function stopAlive() {
  clearInterval(timer);
  report = () => {};
}

async function sign(step, { elsewhere, away, lost }) {
  if (document.visibilityState !== "visible") return;
  const mine = report;
  let response;
  try {
    response = await fetch("/work/alive", { method: "POST", body: new URLSearchParams({ step }), cache: "no-store" });
  } catch {
    return; // no connection: the next sign will do
  }
  if (mine !== report) return; // the page has gone on meanwhile
  if (response.status === 403) return lost();
  if (!response.ok) return;
  const { alive, current } = await response.json();
  if (!current) elsewhere();
  else if (!alive) away();
}
