// What the page says about saving: a quiet word in the corner, and a banner where the assessor should know more.

const line = document.getElementById("status");
const banner = document.getElementById("banner");
const button = banner.querySelector("button");
let pressed = null;

button.addEventListener("click", () => pressed?.());

// state: "", "unsaved", "saving" or "saved".
export function setStatus(state) {
  line.dataset.state = state;
  line.textContent = state ? line.dataset[state] : "";
}

export function openBanner(text, label = "", press = null) {
  banner.querySelector("p").textContent = banner.dataset[text];
  button.textContent = label ? banner.dataset[label] : "";
  button.hidden = !label;
  pressed = press;
  banner.hidden = false;
}

export function closeBanner() {
  banner.hidden = true;
  pressed = null;
}
