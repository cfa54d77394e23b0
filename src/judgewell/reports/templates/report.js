// Draws the charts in the reader's colours, sorts and unfolds tables, and hands tables out as csv.
(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const specs = read("specs"), themes = read("themes"), root = document.documentElement;
  const asked = matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("theme");
  let chosen = "";

  const draw = () => {
    const name = chosen || (asked.matches ? "dark" : "light");
    root.dataset.theme = name;
    root.classList.toggle("drawn-dark", name === "dark");
    button.textContent = name === "dark" ? "Light" : "Dark";
    const actions = { export: true, source: false, compiled: false, editor: false };
    for (const box of document.querySelectorAll("[data-chart]")) {
      const options = { config: themes[name], renderer: "svg", actions, logLevel: 1, downloadFileName: box.dataset.chart };
      options.tooltip = { theme: name };
      vegaEmbed(box, specs[box.dataset.chart], options).catch((problem) => { box.textContent = String(problem); });
    }
  };
  button.hidden = false;
  button.addEventListener("click", () => { chosen = root.dataset.theme === "dark" ? "light" : "dark"; draw(); });
  asked.addEventListener("change", draw);
  if (Object.keys(specs).length) draw(); else root.dataset.theme = asked.matches ? "dark" : "light";

  const value = (cell) => {
    const text = cell.dataset.v ?? cell.textContent.replace(/[,%\s]/g, "").replace("−", "-");
    return text === "" || text === "—" || isNaN(text) ? null : Number(text);
  };
  const compare = (place, numbers, sign) => (one, other) => {
    const [a, b] = [one.cells[place], other.cells[place]];
    if (!numbers) return sign * a.textContent.localeCompare(b.textContent, undefined, { numeric: true });
    const [x, y] = [value(a), value(b)];
    return x === null || y === null ? (x === null) - (y === null) : sign * (x - y);  // what is missing comes last
  };
  document.addEventListener("click", (event) => {
    const head = event.target.closest("th");
    if (head) {
      const place = head.cellIndex, body = head.closest("table").tBodies[0];
      const up = head.ariaSort === "descending" || (!head.ariaSort && !head.classList.contains("number"));
      for (const other of head.parentNode.cells) other.ariaSort = null;
      head.ariaSort = up ? "ascending" : "descending";
      body.append(...[...body.rows].sort(compare(place, head.classList.contains("number"), up ? 1 : -1)));
    }
    const more = event.target.closest(".unfold");
    if (more) {
      const folded = more.closest("figure, .grid").querySelector("table.folds").classList.toggle("folded");
      more.textContent = folded ? more.dataset.more : more.dataset.less;
    }
    if (event.target.id === "open-all") for (const table of document.querySelectorAll("details.grid")) table.open = true;
    const take = event.target.closest(".take");
    if (take) {
      const quoted = (cell) => `"${(cell.dataset.v ?? cell.textContent.trim()).replaceAll('"', '""')}"`;
      const rows = [...take.closest("figure, .grid").querySelectorAll("tr")];
      const text = rows.map((row) => [...row.cells].map(quoted).join(",")).join("\n") + "\n";
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
      link.download = `${take.dataset.name}.csv`;
      link.click();
      URL.revokeObjectURL(link.href);
    }
  });
  const open = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const fold = target && target.closest("details");
    if (fold) { fold.open = true; target.scrollIntoView(); }
  };
  addEventListener("hashchange", open);
  open();
})();
