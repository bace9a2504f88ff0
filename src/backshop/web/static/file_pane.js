// A file beside the talk: the viewer's own page, its main part fetched into a pane. Narrow windows go to the page itself.
import { $, $$, fragment, noteRefusal, skeleton } from "./dom.js";
import { reach, unreachable } from "./rpc.js";

export class FilePane {
  // `opened` hears that the pane takes its place.
  constructor(bench, opened) {
    this.files = `/bench/${bench}/file/`;
    this.opened = opened;
    this.root = $("#file-pane");
    this.body = $("#file-pane-body");
    this.opener = null;
    this.href = null;
    this.pending = null;
    this.isLoaded = false;
    $("#file-pane-close").addEventListener("click", () => this.close());
    this.root.addEventListener("keydown", (event) => { if (event.key === "Escape") { event.stopPropagation(); event.preventDefault(); this.close(); } });
  }

  get path() { return this.href && decodeURIComponent(new URL(this.href, location.href).pathname.slice(this.files.length)); }

  async open(href, opener) {
    const isNew = href !== this.href;
    Object.assign(this, { href, opener });
    this.opened();
    if (isNew || this.root.hidden) this.body.replaceChildren(skeleton("page", 1));
    this.root.hidden = false;
    $("#file-pane-name").textContent = this.path.split("/").at(-1);
    $("#file-pane-page").href = href;
    $(".bench").classList.add("with-file");
    if (isNew) $("#file-pane-name").focus();
    await this.show(href);
  }

  async show(href) {
    let fresh;
    try {
      const response = await reach(href, { headers: { accept: "text/html" } });
      fresh = fragment(await response.text());
    } catch (error) {
      if (!error.envelope) { unreachable(error); return; }
      noteRefusal(this.body, error);
      return;
    }
    const main = $("#main", fresh);
    if (this.href !== href || !main) return;
    for (const one of $$("a[href], form[action]", main)) { // theirs are about the page they come from
      const name = one.tagName === "A" ? "href" : "action";
      one.setAttribute(name, new URL(one.getAttribute(name), new URL(href, location.href)).href);
    }
    for (const sheet of $$("link[rel=stylesheet]", fresh)) if (!$(`link[href="${sheet.getAttribute("href")}"]`)) document.head.append(sheet);
    const { scrollTop } = this.body;
    this.body.replaceChildren(...main.childNodes);
    this.body.scrollTop = scrollTop;
    const scripts = $$("script[type=module][src]", fresh).map((one) => one.getAttribute("src")).filter((src) => !$(`script[src="${src}"]`));
    await Promise.all(scripts.map((src) => import(src)));
    if (this.isLoaded) document.dispatchEvent(new CustomEvent("renewed")); // its script begins again with what is shown now
    this.isLoaded = true;
  }

  // Files changed: the one that is shown is shown as it is now; changes that come close together are one.
  renew() {
    if (this.root.hidden) return;
    this.pending ??= setTimeout(() => { this.pending = null; if (this.href) this.show(this.href); }, 300);
  }

  close() {
    this.root.hidden = true;
    this.href = null;
    this.body.replaceChildren();
    $(".bench").classList.remove("with-file");
    (this.opener?.isConnected ? this.opener : $("#transcript")).focus();
  }
}
