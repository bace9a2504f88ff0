// Applies the looks of a drawn document (F43.51): data attributes become styles, numbers as
// pixels, colours and faces only in their closed forms. The policy allows no styles in markup.
const PIXELS = {
  width: "width",
  height: "height",
  least: "minWidth",
  size: "fontSize",
  left: "paddingInlineStart",
  right: "paddingInlineEnd",
  first: "textIndent",
  before: "marginTop",
  after: "marginBottom",
};
const COLORS = { color: "color", highlight: "backgroundColor", fill: "backgroundColor" };
const FAMILIES = {
  Carlito: "Carlito, Calibri, sans-serif",
  Caladea: "Caladea, Cambria, serif",
  Arimo: "Arimo, Arial, sans-serif",
  Tinos: "Tinos, 'Times New Roman', serif",
  Cousine: "Cousine, 'Courier New', monospace",
};

// A table that is wider than its box is scrolled with the keyboard too.
const sizes = new ResizeObserver((seen) => {
  for (const { target } of seen) {
    const isWider = target.scrollWidth > target.clientWidth;
    const looks = { tabindex: "0", role: "group", "aria-label": "Wide table" };
    for (const [name, value] of Object.entries(looks)) isWider ? target.setAttribute(name, value) : target.removeAttribute(name);
  }
});

export function dress(root) {
  for (const one of root.querySelectorAll("[data-document], [data-document] *")) {
    for (const [name, value] of Object.entries(one.dataset)) {
      if (name in PIXELS) {
        const number = Number(value);
        if (Number.isFinite(number)) one.style[PIXELS[name]] = `${number}px`;
      } else if (name in COLORS) {
        if (/^#[0-9a-f]{6}$/i.test(value)) one.style[COLORS[name]] = value;
      } else if (name === "line") {
        if (Number.isFinite(Number(value))) one.style.lineHeight = String(Number(value) * 1.2);
      } else if (name === "family" && value in FAMILIES) {
        one.style.fontFamily = FAMILIES[value];
      }
    }
  }
  for (const one of root.querySelectorAll(".paper-wide")) sizes.observe(one);
}

dress(document);
