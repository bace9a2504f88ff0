// A list of any length with rows of one height: only those in sight are in the page (U1.5).
//
//   const list = virtual($("#rows"), { count: 100000, height: 26, row: (index) => element });
//   list.refresh(count); list.show(index);

export function virtual(root, { count, height, row, overscan = 12 }) {
  root.classList.add("virtual");
  const space = document.createElement("div");
  space.className = "virtual-space";
  root.replaceChildren(space);
  const shown = new Map();
  let queued = false;

  const draw = () => {
    queued = false;
    const first = Math.max(0, Math.floor(root.scrollTop / height) - overscan);
    const end = Math.min(count, Math.ceil((root.scrollTop + root.clientHeight) / height) + overscan);
    for (const [index, element] of shown) {
      if (index < first || index >= end) { element.remove(); shown.delete(index); }
    }
    for (let index = first; index < end; index += 1) {
      if (shown.has(index)) continue;
      const element = row(index);
      element.classList.add("virtual-row");
      element.style.top = `${index * height}px`;
      element.style.height = `${height}px`;
      if (element.getAttribute("role") !== "presentation") {
        element.setAttribute("aria-setsize", count);
        element.setAttribute("aria-posinset", index + 1);
      }
      shown.set(index, element);
      space.append(element);
    }
  };
  const later = () => { if (!queued) { queued = true; requestAnimationFrame(draw); } };
  const refresh = (total = count) => {
    count = total;
    space.style.height = `${count * height}px`;
    for (const element of shown.values()) element.remove();
    shown.clear();
    draw();
  };
  root.addEventListener("scroll", later, { passive: true });
  new ResizeObserver(later).observe(root);
  refresh();
  return {
    refresh,
    element: (index) => shown.get(index),
    show(index) {
      const top = index * height;
      if (top < root.scrollTop) root.scrollTop = top;
      else if (top + height > root.scrollTop + root.clientHeight) root.scrollTop = top + height - root.clientHeight;
      draw();
    },
  };
}
