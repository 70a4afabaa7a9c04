// What scrolls inside of itself can be reached with the keyboard, and only that.
"use strict";

const SCROLLING = ".md-typeset__scrollwrap, .md-typeset table:not([class]), .md-typeset pre > code";

function reach() {
  for (const box of document.querySelectorAll(SCROLLING)) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else if (!box.matches("code")) box.removeAttribute("tabindex");
  }
}

addEventListener("load", reach);
addEventListener("resize", reach);
