// Text that is longer than its box: it fades at its end, and a button shows all of it (U4.40).
import { $, $$, el } from "./dom.js";

export function folds(root) {
  for (const box of $$(".clip", root)) {
    const body = $(".clip-body", box);
    const button = el("button", { type: "button", class: "clip-more small", "aria-expanded": "false", hidden: "" });
    const show = (isOpen) => {
      box.classList.toggle("is-open", isOpen);
      button.setAttribute("aria-expanded", String(isOpen));
      button.replaceChildren(isOpen ? "Show less" : "Show all", el("span", { class: "unseen" }, ` of ${$("h3", box)?.textContent ?? box.getAttribute("aria-label")}`));
    };
    const look = () => {
      const isLonger = box.classList.contains("is-open") || body.scrollHeight > body.clientHeight + 1;
      button.hidden = !isLonger;
      box.classList.toggle("is-cut", isLonger && !box.classList.contains("is-open"));
    };
    button.addEventListener("click", () => { show(!box.classList.contains("is-open")); body.scrollTop = 0; look(); });
    show(false);
    box.append(button);
    new ResizeObserver(look).observe(body);
  }
}
