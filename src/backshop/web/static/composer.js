// The composer: text that survives a reload, Enter, modes, file names after @.
import { $, $$, el, on } from "./dom.js";

const KEPT_MAX_CHARS = 200_000;

export class Composer {
  constructor(bench, send) {
    this.form = $("#composer");
    this.field = $("#message");
    this.list = $("#completions");
    this.missing = $("#nothing-written");
    this.key = `backshop.text.${bench}`;
    this.field.value = localStorage.getItem(this.key) ?? "";
    this.form.elements.mode.value = localStorage.getItem(`${this.key}.mode`) ?? "agent";
    if (!this.mode) this.form.elements.mode.value = "agent"; // a mode this workbench does not have any more
    this.field.addEventListener("input", () => { this.missing.hidden = true; this.keep(); this.grow(); this.complete(); });
    this.field.addEventListener("keydown", (event) => this.press(event));
    this.field.addEventListener("blur", () => setTimeout(() => { this.list.hidden = true; }, 150));
    on(this.form, "change", "[name=mode]", () => localStorage.setItem(`${this.key}.mode`, this.mode));
    on(this.list, "mousedown", "[role=option]", (event, option) => { event.preventDefault(); this.insert(option.dataset.path); });
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.missing.hidden = Boolean(this.text.trim());
      if (this.missing.hidden) send(this.text, this.mode);
      else this.focus();
    });
    addEventListener("pagehide", () => { if (this.field.value) this.keep(); }); // another page may have sent its own since
    this.grow();
  }

  get mode() { return this.form.elements.mode.value; }
  get text() { return this.field.value.trimEnd(); }
  keep() {
    if (this.field.value.length > KEPT_MAX_CHARS) return; // more than a message may have
    if (this.field.value) localStorage.setItem(this.key, this.field.value);
    else localStorage.removeItem(this.key);
  }
  clear() { this.field.value = ""; this.grow(); } // kept until it is known to have arrived
  fill(text, { focus = true } = {}) { this.missing.hidden = true; this.field.value = text; this.keep(); this.grow(); if (focus) this.focus(); }
  focus() { if (!this.form.hidden) this.field.focus(); }
  grow() {
    this.field.style.height = "auto";
    this.field.style.height = `${Math.min(this.field.scrollHeight + 2, 260)}px`;
  }

  press(event) {
    if (event.isComposing || event.keyCode === 229) return; // an input method is at work (W20.2)
    if (!this.list.hidden && this.walk(event)) return;
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      this.form.requestSubmit();
    }
  }

  // Keys while completions are shown; says whether the key was used.
  walk(event) {
    const options = $$("[role=option]", this.list);
    const at = options.findIndex((one) => one.getAttribute("aria-selected") === "true");
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) this.select(options, (at + step + options.length) % options.length);
    else if (event.key === "Enter" || event.key === "Tab") this.insert(options[Math.max(at, 0)].dataset.path);
    else if (event.key === "Escape") { this.list.hidden = true; event.stopPropagation(); }
    else return false;
    event.preventDefault();
    return true;
  }

  select(options, index) {
    options.forEach((one, place) => one.setAttribute("aria-selected", String(place === index)));
    options[index].scrollIntoView({ block: "nearest" });
    this.field.setAttribute("aria-activedescendant", options[index].id);
  }

  word() {
    const before = this.field.value.slice(0, this.field.selectionStart);
    return /(?:^|\s)@([^\s@]*)$/.exec(before)?.[1] ?? null;
  }

  complete() {
    const word = this.word();
    const wanted = word?.toLowerCase();
    const names = word === null ? [] : $$("#files .file-name").map((one) => one.textContent);
    const found = names.filter((name) => name.toLowerCase().includes(wanted)).slice(0, 12);
    this.list.hidden = found.length === 0;
    this.field.removeAttribute("aria-activedescendant");
    this.list.replaceChildren(...found.map((path, index) =>
      el("div", { role: "option", id: `completion-${index}`, "aria-selected": String(index === 0), "data-path": path }, path)));
  }

  insert(path) {
    const at = this.field.selectionStart;
    const start = this.field.value.lastIndexOf("@", at - 1);
    this.field.setRangeText(`@${path} `, start, at, "end");
    this.list.hidden = true;
    this.keep();
  }
}
