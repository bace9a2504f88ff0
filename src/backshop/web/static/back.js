// Backshop answers again: what was refused meanwhile can be asked for once more, and the page says no longer that
// nobody is there. Fetched only where it said that.
import { $, icon } from "./dom.js";

export function isBack(refusals) {
  for (const one of refusals) {
    one.removeAttribute("data-gone");
    $(".error-message", one).replaceChildren(icon("info"), " Backshop did not answer then; it does now.");
  }
}
