// What is wider than its place scrolls; whoever uses the keyboard must be able to reach it.
const SCROLLS = ".formula, .bd-article pre, .cell_output .output, .pst-scrollable-table-container";

function makeReachable() {
  for (const element of document.querySelectorAll(SCROLLS)) {
    const scrolls = element.scrollWidth > element.clientWidth;
    if (scrolls) element.tabIndex = 0;
    else element.removeAttribute("tabindex");
  }
}

addEventListener("load", makeReachable);
addEventListener("resize", makeReachable);
document.addEventListener("toggle", makeReachable, true);
