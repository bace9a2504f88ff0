// The faces that drawn documents are set in (F43.2): known to the page, fetched as far as a document uses them.
const RANGES = {
  latin: "U+0-FF, U+131, U+152-153, U+2BB-2BC, U+2C6, U+2DA, U+2DC, U+304, U+308, U+329, U+2000-206F, U+20AC, U+2122, U+2191, U+2193, U+2212, U+2215, U+FEFF, U+FFFD",
  "latin-ext": "U+100-2BA, U+2BD-2C5, U+2C7-2CC, U+2CE-2D7, U+2DD-2FF, U+1D00-1DBF, U+1E00-1E9F, U+1EF2-1EFF, U+20A0-20AB, U+20AD-20C0, U+2113, U+2C60-2C7F, U+A720-A7FF",
  cyrillic: "U+301, U+400-45F, U+490-491, U+4B0-4B1, U+2116",
  greek: "U+370-377, U+37A-37F, U+384-38A, U+38C, U+38E-3A1, U+3A3-3FF",
};
const FAMILIES = { Carlito: 4, Caladea: 2, Arimo: 4, Tinos: 4, Cousine: 4 }; // with how many of the scripts
let isKnown = false;

export function faces() {
  if (isKnown) return;
  isKnown = true;
  for (const [family, count] of Object.entries(FAMILIES)) {
    for (const [script, unicodeRange] of Object.entries(RANGES).slice(0, count)) {
      for (const weight of ["400", "700"]) {
        for (const style of ["normal", "italic"]) {
          const address = new URL(`${family.toLowerCase()}-${script}-${weight}-${style}.woff2`, import.meta.url);
          document.fonts.add(new FontFace(family, `url("${address}")`, { weight, style, unicodeRange, display: "swap" }));
        }
      }
    }
  }
}
