// Starts the viewer: inflates the program and the data that stand in this file, and says so in
// the page when something is in the way. Runs behind the glue of wasm-bindgen in one module script.
const memscopeBoot = async () => {
  const marks = (globalThis.memscopeMarks = { boot: performance.now() });
  // Decoded text is dropped element by element: the file may be large.
  const decode = (element) => {
    const text = element.textContent.trim();
    element.remove();
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const raw = atob(text);
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return bytes;
  };
  const program = document.getElementById("memscope-wasm");
  const parts = program.dataset.parts.split(",").map(Number);
  if (typeof DecompressionStream === "undefined")
    throw new Error("this browser has no DecompressionStream: use Chrome 80, Firefox 113, Safari 16.4 or newer");
  const packed = decode(program);
  const inflated = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const wasm = new Response(inflated).arrayBuffer();
  const chunks = [...document.querySelectorAll("script.memscope-data")].map(decode);
  const data = new Uint8Array(chunks.reduce((n, c) => n + c.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    data.set(chunk, at);
    at += chunk.length;
  }
  chunks.length = 0;
  const expected = Number(program.dataset.bytes);
  if (data.length !== expected)
    throw new Error(`the data has ${data.length} bytes, expected ${expected}: the file was cut off on its way, copy it again`);
  const bytes = await wasm;
  marks.inflated = performance.now();
  try {
    await __wbg_init({ module_or_path: bytes });
  } catch (e) {
    throw new Error(`WebAssembly is not allowed or not available here (${e.message ?? e}): download the file and open it in a browser`);
  }
  marks.instantiated = performance.now();
  // The worker starts from the same glue and program: see viewer/src/open.rs.
  globalThis.memscopeWorker = { program: bytes, glue: document.getElementById("memscope-boot")?.textContent ?? "" };
  start(data, Float64Array.from(parts));
  // A long history is decoded in pieces: the static part stays until it is shown.
  if (typeof shown === "function") await shown();
  document.getElementById("memscope-static")?.remove();
  marks.started = performance.now();
};
const memscopeFailed = (e) => {
  const note = document.getElementById("memscope-note") ?? document.body;
  const line = document.createElement("p");
  line.id = "memscope-error";
  line.setAttribute("role", "alert");
  line.textContent = `The interactive part did not start: ${e?.message ?? e}. The figures below are complete.`;
  note.append(line);
};
// A small report is on screen sooner without painting the static part first; for a large one that is
// painted before the heavy work begins.
const memscopeStart = () => memscopeBoot().catch(memscopeFailed);
if (Number(document.getElementById("memscope-wasm").dataset.bytes) < 1e6) memscopeStart();
else requestAnimationFrame(() => setTimeout(memscopeStart));
