// The slider and the number field beside it, in step. Before the first touch there is no handle and no value: a start
// position would pull answers towards it.

export function startSlider(sheet) {
  const slider = sheet.querySelector("input[type=range]");
  if (!slider) return;
  const field = sheet.querySelector(`#${slider.dataset.moves}`);
  slider.closest("[hidden]").hidden = false;

  const touch = (touched) => {
    slider.classList.toggle("untouched", !touched);
    slider.closest("fieldset").classList.toggle("touched", touched);
    if (touched) slider.removeAttribute("aria-valuetext");
    else slider.setAttribute("aria-valuetext", slider.dataset.untouched);
  };
  const follow = () => {
    const typed = field.value.trim();
    const number = Number(typed);
    const fits = typed !== "" && number >= Number(slider.min) && number <= Number(slider.max);
    if (fits) slider.value = number;
    touch(fits);
  };
  const move = () => {
    touch(true);
    if (field.value === slider.value) return;
    field.value = slider.value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  };

  slider.addEventListener("input", move);
  slider.addEventListener("pointerup", move); // a click where the handle would have been changes nothing by itself
  slider.addEventListener("keydown", (event) => {
    if (!slider.classList.contains("untouched")) return;
    const rightToLeft = getComputedStyle(slider).direction === "rtl";
    const [left, right] = rightToLeft ? [slider.min, slider.max] : [slider.max, slider.min];
    const end = { ArrowRight: right, ArrowUp: slider.min, ArrowLeft: left, ArrowDown: slider.max }[event.key];
    if (end === undefined) return;
    event.preventDefault(); // the first step enters from the end, not from the middle
    slider.value = end;
    move();
  });
  field.addEventListener("input", follow);
  follow();
}
