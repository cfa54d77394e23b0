// How long a step takes: active while the page is visible and somebody has given a sign of life not long ago, idle
// otherwise. A reload goes on counting where it was.

const STILL = 120000; // reading without a movement for so long counts as being away
const SIGNS = ["pointermove", "pointerdown", "keydown", "wheel", "touchstart", "scroll", "focusin"];
const NAME = "judgewell.clock";

export class Clock {
  constructor(step) {
    this.step = step;
    const kept = this.#kept();
    this.active = kept?.active ?? 0;
    this.idle = kept?.idle ?? 0;
    this.counted = performance.now();
    this.sign = this.counted;
    this.listening = new AbortController();
    const options = { signal: this.listening.signal, passive: true, capture: true };
    for (const name of SIGNS) document.addEventListener(name, () => this.#signed(), options);
    document.addEventListener("visibilitychange", () => this.#turned(), options);
    window.addEventListener("pagehide", () => this.#keep(), options);
  }

  seconds() {
    this.#count(document.visibilityState === "visible");
    return { active: this.active / 1000, idle: this.idle / 1000 };
  }

  stop() {
    this.listening.abort();
  }

  forget() {
    try {
      sessionStorage.removeItem(NAME);
    } catch {
      // storage is switched off
    }
  }

  // Adds what has passed since the last count; `visible` says how the page was in that time.
  #count(visible) {
    const now = performance.now();
    const passed = now - this.counted;
    const awake = visible ? Math.max(0, Math.min(passed, this.sign + STILL - this.counted)) : 0;
    this.active += awake;
    this.idle += passed - awake;
    this.counted = now;
  }

  #signed() {
    this.#count(document.visibilityState === "visible");
    this.sign = performance.now();
  }

  #turned() {
    this.#count(document.visibilityState !== "visible");
    this.sign = performance.now();
    if (document.visibilityState !== "visible") this.#keep();
  }

  #keep() {
    const { active, idle } = this.seconds();
    try {
      sessionStorage.setItem(NAME, JSON.stringify({ step: this.step, active: active * 1000, idle: idle * 1000 }));
    } catch {
      // storage is switched off
    }
  }

  #kept() {
    try {
      const kept = JSON.parse(sessionStorage.getItem(NAME));
      return kept?.step === this.step ? kept : null;
    } catch {
      return null;
    }
  }
}
