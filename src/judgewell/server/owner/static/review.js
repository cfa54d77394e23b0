// Keys of the reviewers' page: A accepts, O objects, R goes to the reason. Off while typing.

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
  if (event.target.matches("input, textarea, select")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const element = document.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
  if (!element) return;
  event.preventDefault();
  if (element.matches("input")) return element.focus();
  const reason = document.getElementById("reason");
  if (element.value === "object" && !reason.value.trim()) return reason.focus(); // an objection needs a reason
  element.click();
});

// Enter in the reason means the objection that it explains, never an acceptance by mistake.
document.getElementById("reason")?.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  document.querySelector('[value="object"]').click();
});
