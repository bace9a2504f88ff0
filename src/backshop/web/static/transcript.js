// The conversation: kept equal to the server's by message id and version, streamed in between.
import { $, $$, load, skeleton, localTimes, fragment, on, copyText } from "./dom.js";
import { post, unreachable } from "./rpc.js";

const RENDER_EVERY_MS = 200;
const REREAD_EVERY_MS = 2000;

export class Transcript {
  constructor(bench) {
    this.bench = bench;
    this.root = $("#transcript");
    this.scroll = $("#scroll");
    this.older = $("#older");
    this.provisional = $("#provisional");
    this.streams = new Map();
    this.loadingOlder = false;
    this.following = true;
    this.asked = 0;
    this.answered = 0;
    this.older.addEventListener("click", () => this.loadOlder());
    this.scroll.addEventListener("scroll", () => {
      this.following = this.scroll.scrollHeight - this.scroll.scrollTop - this.scroll.clientHeight < 60;
      if (this.scroll.scrollTop < 400) this.loadOlder();
    }, { passive: true });
    new ResizeObserver(() => this.followEnd()).observe(this.root);
    new ResizeObserver(() => { this.leaveRoom(); this.followEnd(); }).observe(this.scroll);
    on(this.root, "click", "[data-copy-message]", (_, button) => {
      const message = button.closest("[data-message]");
      const source = message.querySelector("template[data-source]");
      copyText(source ? source.content.textContent : message.querySelector("[data-text]").textContent);
    });
    this.dropWindow(this.root);
    this.toEnd();
  }

  toEnd() { this.following = true; this.followEnd(); }
  followEnd() { if (this.following && this.messages().length) this.scroll.scrollTop = this.scroll.scrollHeight; }

  // Short messages in the corner stand above what is written in: nothing covers Send.
  leaveRoom() {
    const below = Math.max(0, Math.round(innerHeight - this.scroll.getBoundingClientRect().bottom));
    document.body.style.setProperty("--below-talk", `${below}px`);
  }

  messages() { return $$(":scope > [data-message]", this.root); }

  dropWindow(root) {
    const mark = $("[data-window]", root);
    const more = mark?.dataset.more === "yes";
    mark?.remove();
    return more;
  }

  // Take over what the server shows: same id and version stays, the rest is replaced, added, removed. An answer that
  // was overtaken by a later one is dropped: nothing goes back in time.
  async sync() {
    const own = ++this.asked;
    const fresh = await load(`/bench/${this.bench}/transcript`);
    if (own < this.answered) return;
    this.answered = own;
    const more = this.dropWindow(fresh);
    const wanted = [...fresh.children];
    const first = wanted[0]?.dataset.message;
    const old = this.messages();
    const start = old.findIndex((one) => one.dataset.message === first);
    const known = new Map(old.map((one) => [one.dataset.message, one]));
    const kept = new Set(start > 0 ? old.slice(0, start) : []);
    if (start < 0) this.older.hidden = !more;
    let after = start > 0 ? old[start - 1] : this.older;
    for (const one of wanted) {
      const id = one.dataset.message;
      const had = known.get(id);
      const stays = had && (had.dataset.version === one.dataset.version || this.streams.has(id));
      const now = stays ? had : one;
      if (had && !stays) had.remove();
      if (after.nextElementSibling !== now) after.after(now);
      kept.add(now);
      after = now;
    }
    for (const one of this.messages()) if (!kept.has(one)) one.remove();
    if (document.getElementById(this.provisional.dataset.of ?? "")) this.hideProvisional(); // the record says it now
    this.followEnd();
  }

  // Show a message that may be older than what is loaded, and let it have the focus.
  async goTo(id) {
    this.following = false;
    while (!document.getElementById(id) && !this.older.hidden) {
      const first = this.messages()[0];
      await this.loadOlder();
      if (this.messages()[0] === first) break;
    }
    const found = document.getElementById(id);
    found?.scrollIntoView({ block: "center" });
    found?.focus({ preventScroll: true });
  }

  async loadOlder() {
    const first = this.messages()[0];
    if (this.older.hidden || this.loadingOlder || !first) return;
    this.loadingOlder = true;
    const shape = skeleton("text", 3); // its place is above: what is read does not move
    this.older.before(shape);
    try {
      const fresh = await load(`/bench/${this.bench}/transcript?before=${first.dataset.message}`);
      this.older.hidden = !this.dropWindow(fresh);
      const from = this.scroll.scrollHeight - this.scroll.scrollTop;
      this.older.after(fresh);
      this.scroll.scrollTop = this.scroll.scrollHeight - from;
    } catch (error) {
      unreachable(error);
    } finally {
      shape.remove();
      this.loadingOlder = false;
    }
  }

  // A piece of an answer. Pieces are numbered from 0; one that is missing means: re-read (W4.1).
  delta({ message_id, token_delta, delta_seq }) {
    let stream = this.streams.get(message_id);
    if (!stream || delta_seq === 0) { // from 0 again: what came before was no answer (W5.8)
      stream = { text: "", next: 0, whole: delta_seq === 0, rendering: false, dirty: false };
      this.streams.set(message_id, stream);
    }
    if (delta_seq !== stream.next) stream.whole = false;
    stream.next = delta_seq + 1;
    if (stream.whole) stream.text += token_delta;
    stream.dirty = true;
    this.draw(message_id, stream);
  }

  async draw(id, stream) {
    if (stream.rendering || !stream.dirty) return;
    stream.rendering = true;
    stream.dirty = false;
    try {
      await this.redraw(id, stream);
    } catch (error) {
      unreachable(error);
      Object.assign(stream, { whole: false, dirty: this.streams.get(id) === stream });
    }
    this.followEnd();
    setTimeout(() => { stream.rendering = false; this.draw(id, stream); }, stream.whole ? RENDER_EVERY_MS : REREAD_EVERY_MS);
  }

  async redraw(id, stream) {
    const target = document.getElementById(id)?.querySelector("[data-rendered]");
    if (!target && stream.whole) {
      await this.showProvisional(id, stream);
    } else if (!target) {
      await this.sync();
    } else if (stream.whole) {
      const { html } = await post("/markdown", { text: stream.text });
      if (this.streams.get(id) === stream) target.replaceChildren(fragment(html));
    } else {
      await this.reread(id);
    }
  }

  // Text of an answer that is no record yet: it may still turn out to be a word on the way.
  async showProvisional(id, stream) {
    const { html } = await post("/markdown", { text: stream.text });
    if (this.streams.get(id) !== stream || document.getElementById(id)) return;
    this.provisional.firstElementChild.replaceChildren(fragment(html));
    this.provisional.dataset.of = id;
    this.provisional.hidden = false;
  }

  hideProvisional() {
    this.provisional.hidden = true;
    this.provisional.firstElementChild.replaceChildren();
  }

  withdraw() {
    this.streams.clear(); // what is still being drawn of it comes to nothing
    this.hideProvisional();
  }

  async reread(id) {
    const fresh = await load(`/bench/${this.bench}/transcript`);
    const now = fresh.getElementById(id);
    const had = document.getElementById(id);
    if (now && had) had.replaceWith(now);
    localTimes(this.root);
  }

  // More of an answer was kept. Whose pieces come here has it; a turn of another process has none.
  async grown(id) { if (!this.streams.has(id)) await this.sync(); }

  async complete(id) {
    this.streams.delete(id);
    const had = document.getElementById(id);
    if (had) had.dataset.version = "";
    await this.sync();
    this.withdraw();
  }

  forgetStreams() { this.withdraw(); }
}
