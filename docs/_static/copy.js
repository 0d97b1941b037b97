// A button on each block of code, which copies what is typed; what was printed has none.
for (const block of navigator.clipboard ? document.querySelectorAll("div.highlight") : []) {
  if (block.closest(".printed")) continue;
  const button = Object.assign(document.createElement("button"), { className: "copy", type: "button" });
  const name = (text) => { button.textContent = text; };
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.querySelector("pre").textContent);
    name("Copied");
    setTimeout(name, 1500, "Copy");
  });
  name("Copy");
  block.append(button);
}
