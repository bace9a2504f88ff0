// Two pictures: side by side, swiped, or laid over each other; with zoom.
import { $, $$ } from "./dom.js";

export function pictures(root) {
  for (const holder of $$("[data-pictures]", root)) {
    const tools = holder.previousElementSibling;
    const blend = $(".picture-blend", tools);
    for (const part of $$(".picture-modes, .picture-zoom", tools)) part.hidden = false;
    if ($$("img", holder).length < 2) $(".picture-modes", tools).hidden = true;
    const lay = () => {
      const share = Number($("[data-picture-blend]", tools).value);
      const top = $$("img", holder)[1];
      if (!top) return;
      top.style.clipPath = holder.dataset.mode === "swipe" ? `inset(0 0 0 ${share}%)` : "";
      top.style.opacity = holder.dataset.mode === "overlay" ? String(share / 100) : "";
      holder.style.setProperty("--swipe", `${share}%`);
    };
    for (const button of $$("[data-picture-mode]", tools)) {
      button.addEventListener("click", () => {
        holder.dataset.mode = button.dataset.pictureMode;
        for (const one of $$("[data-picture-mode]", tools)) one.setAttribute("aria-pressed", String(one === button));
        blend.hidden = holder.dataset.mode === "side";
        lay();
      });
    }
    $("[data-picture-blend]", tools).addEventListener("input", lay);
    $("[data-picture-zoom]", tools).addEventListener("input", (event) => {
      $("output", tools).textContent = `${event.target.value} %`;
      holder.style.setProperty("--zoom", String(Number(event.target.value) / 100));
      holder.classList.add("zoomed");
    });
  }
}
