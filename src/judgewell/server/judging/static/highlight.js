// Marks the words of the title in the text, where the study allows it and the assessor asks for it. That it was on is
// sent with the answer.

let on = false;

export function startHighlight(sheet) {
  const box = sheet.querySelector("[data-highlight]");
  if (!box) return;
  box.closest("label").hidden = false;
  const words = JSON.parse(box.dataset.highlight);
  const apply = () => {
    for (const text of sheet.querySelectorAll("[data-text]")) {
      clear(text);
      if (on) mark(text, words);
    }
    if (on) sheet.dataset.highlighted = "1";
  };
  box.checked = on;
  box.addEventListener("change", (event) => {
    on = box.checked;
    apply();
    event.stopPropagation();
  });
  apply();
}

function mark(text, words) {
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${escaped.join("|")})(?![\\p{L}\\p{N}])`, "giu");
  const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  for (const node of nodes) wrap(node, pattern);
}

function wrap(node, pattern) {
  const pieces = document.createDocumentFragment();
  let from = 0;
  for (const match of node.data.matchAll(pattern)) {
    pieces.append(node.data.slice(from, match.index));
    const word = document.createElement("mark");
    word.textContent = match[0];
    pieces.append(word);
    from = match.index + match[0].length;
  }
  if (from === 0) return;
  pieces.append(node.data.slice(from));
  node.replaceWith(pieces);
}

function clear(text) {
  for (const word of text.querySelectorAll("mark")) word.replaceWith(word.textContent);
  text.normalize();
}
