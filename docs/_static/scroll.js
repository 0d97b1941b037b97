// Tables and code that are wider than the column can be scrolled with the keyboard.
const resized = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});
for (const block of document.querySelectorAll(".table-wrapper, .highlight pre")) resized.observe(block);
