// Tables that are whole on the page are sorted here; others by the server, through the links in their heads.

const words = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

export function startSorting(section) {
  for (const table of section.querySelectorAll("table[data-whole]")) {
    for (const link of table.querySelectorAll("a.sort[data-sort]")) link.replaceWith(buttonFor(table, link));
  }
}

function buttonFor(table, link) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "sort";
  button.dataset.sort = link.dataset.sort;
  button.textContent = link.textContent;
  button.addEventListener("click", () => {
    const head = button.closest("th");
    const was = head.getAttribute("aria-sort");
    const down = was === "none" ? button.dataset.sort === "number" : was === "ascending";
    sortAgain(table, `${head.cellIndex} ${down ? "down" : "up"}`);
  });
  return button;
}

// `order` is a column's place and a direction; rows without a value stay last.
export function sortAgain(table, order) {
  if (!table) return;
  const [place, direction] = order.split(" ");
  const heads = [...table.tHead.rows[0].cells];
  const kind = heads[place]?.querySelector(".sort")?.dataset.sort;
  if (!kind) return;
  const sign = direction === "down" ? -1 : 1;
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [row, valueOf(row.cells[place], kind)]);
  rows.sort(([, one], [, other]) => {
    if (one === null || other === null) return (one === null) - (other === null);
    return sign * (kind === "number" ? one - other : words.compare(one, other));
  });
  body.append(...rows.map(([row]) => row));
  for (const head of heads) if (head.hasAttribute("aria-sort")) head.setAttribute("aria-sort", "none");
  heads[place].setAttribute("aria-sort", sign < 0 ? "descending" : "ascending");
  table.dataset.order = order;
}

function valueOf(cell, kind) {
  const text = (cell.dataset.value ?? cell.textContent).trim();
  if (kind === "text") return text;
  const number = Number(text.replace(/,/g, ""));
  return text === "" || Number.isNaN(number) ? null : number;
}
