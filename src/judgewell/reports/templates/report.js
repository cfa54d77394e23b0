// Draws the charts in the reader's colours, sorts and unfolds tables, and saves charts and tables.
(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const specs = read("specs"), themes = read("themes"), root = document.documentElement;
  const asked = matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("theme");
  let chosen = "";

  // A chart of a fixed size shrinks to its box, but not to less than half: then the box scrolls.
  const fit = (box) => {
    const svg = box.querySelector("svg"), width = Number(svg.getAttribute("width"));
    if (width > box.clientWidth) Object.assign(svg.style, { width: `${Math.max(box.clientWidth, 0.75 * width)}px`, height: "auto" });
  };
  const draw = () => {
    const name = chosen || (asked.matches ? "dark" : "light");
    root.dataset.theme = name;
    root.classList.toggle("drawn-dark", name === "dark");
    button.textContent = name === "dark" ? "Light" : "Dark";
    for (const box of document.querySelectorAll("[data-chart]")) {
      const options = { config: themes[name], renderer: "svg", actions: false, logLevel: 1, tooltip: { theme: name } };
      const spec = specs[box.dataset.chart], few = spec.facet && box.clientWidth < 500 ? { columns: 2 } : {};
      vegaEmbed(box, { ...spec, ...few }, options).then(() => fit(box)).catch((problem) => { box.textContent = String(problem); });
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
      const own = take.closest("figure, .grid"), comma = take.textContent === "CSV";
      const text = comma ? csv([...own.querySelectorAll("tr")].map((row) => [...row.cells])) : own.querySelector(".latex").content.textContent;
      hand(URL.createObjectURL(new Blob([text])), `${take.dataset.name}.${comma ? "csv" : "tex"}`);
    }
    const drawing = event.target.closest(".draw");
    if (drawing) save(drawing.closest("figure"), drawing.dataset.name, drawing.textContent.toLowerCase());
  });
  const hand = (href, download) => Object.assign(document.createElement("a"), { href, download }).click();
  const csv = (rows) => {
    const quoted = (cell) => `"${(cell.dataset.v ?? cell.textContent.trim()).replaceAll('"', '""')}"`;
    return rows.map((cells) => cells.map(quoted).join(",")).join("\n") + "\n";
  };
  // A chart is saved in light colours. A browser writes PDF only by printing, so the figure is printed alone on a page of its size.
  const save = async (figure, name, ending) => {
    const options = { config: { ...themes.light, background: "white" }, actions: false, logLevel: 1 };
    const { view } = await vegaEmbed(document.createElement("div"), { ...specs[name], ...fixed(figure) }, options);
    if (ending !== "pdf") return hand(await view.toImageURL(ending, ending === "png" ? 2 : 1), `${name}.${ending}`);
    const drawn = new DOMParser().parseFromString(await view.toSVG(), "image/svg+xml").documentElement;
    const sheet = document.createElement("div"), style = document.createElement("style");
    sheet.id = "sheet";
    sheet.append(drawn);
    style.textContent = `@page { size: ${drawn.getAttribute("width")}px ${drawn.getAttribute("height")}px; margin: 0 }`;
    document.body.append(sheet, style);
    root.classList.add("one-figure");
    const title = document.title;
    addEventListener("afterprint", () => { sheet.remove(); style.remove(); root.classList.remove("one-figure"); document.title = title; }, { once: true });
    document.title = name;  // the name that the print dialog proposes
    print();
  };
  const fixed = (figure) => (specs[figure.id].width === "container" ? { width: 640, autosize: "pad" } : {});
  const open = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const fold = target && target.closest("details");
    if (fold) { fold.open = true; target.scrollIntoView(); }
  };
  addEventListener("hashchange", open);
  open();
})();
