// A note to the agent at work: sent from where the composer stands, kept while it is typed, never lost.
import { $, showError, toast } from "./dom.js";
import { call } from "./rpc.js";

export class Note {
  // `late` gets a text that nobody is there to read any more; it says whether it found a place for it.
  constructor(bench, late) {
    this.here = { workbench_id: bench };
    this.late = late;
    this.form = $("#note");
    this.field = $("#note-text");
    this.key = `backshop.note.${bench}`;
    this.field.value = localStorage.getItem(this.key) ?? "";
    this.isSending = false;
    this.missing = $("#nothing-noted");
    this.field.addEventListener("input", () => { this.missing.hidden = true; this.keep(); });
    this.field.addEventListener("keydown", (event) => {
      if (event.isComposing || event.keyCode === 229 || event.key !== "Enter" || event.shiftKey || event.altKey) return;
      event.preventDefault();
      this.form.requestSubmit();
    });
    this.form.addEventListener("submit", (event) => { event.preventDefault(); this.send(); });
  }

  keep() {
    if (this.field.value) localStorage.setItem(this.key, this.field.value);
    else localStorage.removeItem(this.key);
  }
  clear() { this.field.value = ""; this.keep(); }

  // Show the form while `turn` reads notes; what was being typed when it ended goes to where it can be sent.
  show(turn) {
    const takes = Boolean(turn?.takes_notes) && !turn.cancel_requested;
    const had = !this.form.hidden && document.activeElement === this.field;
    this.form.hidden = !takes;
    $("#no-notes").hidden = !turn || turn.takes_notes;
    if (!turn && this.field.value.trim() && this.late(this.field.value, { isTyped: had })) this.clear();
  }
  focus() { if (!this.form.hidden) this.field.focus(); }

  async send() {
    const text = this.field.value.trim();
    this.missing.hidden = Boolean(text);
    if (!text) this.focus();
    if (!text || this.isSending) return;
    this.isSending = true;
    try {
      await call("WorkshopAddNote", { ...this.here, text, origin: "web", client_message_id: crypto.randomUUID() });
      if (this.field.value.trim() === text) this.clear();
    } catch (error) {
      if (!error.envelope) throw error;
      if (error.envelope.reason === "no_turn" && this.late(text, { isTyped: true })) { this.clear(); toast("The turn is over; what you wrote can be sent as a message"); }
      else showError($("#errors"), error.envelope);
    } finally {
      this.isSending = false;
    }
  }
}
