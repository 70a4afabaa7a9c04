// Where data goes: tiles and moves between memories, with the bytes moved.
const flowPart = { level: "tiles", zoom: 1 };
const MOST_NODES = 140;

/** Moves: for each step what it reads goes to what it writes. */
function flows(level) {
  const nodes = new Map(), edges = new Map();
  const nodeOf = (access) => {
    const box = M.A.box[access], memory = M.R.memory[M.A.region[access]], one = M.memories[memory];
    const key = level === "tiles" ? `${one.space}/${one.shared ? one.name : boxName(box)}` : one.shared ? "gm" : one.space;
    if (!nodes.has(key)) nodes.set(key, { key, space: one.space, name: level === "tiles" ? (one.shared ? one.name : boxName(box)) : key, box, format: M.boxes[box].format, read: 0, written: 0, size: M.boxes[box].stop - M.boxes[box].start });
    return nodes.get(key);
  };
  for (let step = 0; step < M.S.length; step++) {
    const reads = [], writes = [];
    for (let access = M.firstAccess[step]; access < M.firstAccess[step + 1]; access++) {
      const node = nodeOf(access), size = regionBytes(M.A.region[access]);
      (M.A.writes[access] ? writes : reads).push([node, size]);
      if (M.A.writes[access]) node.written += size; else node.read += size;
    }
    for (const [to, size] of writes) for (const [from, taken] of reads) {
      const key = `${from.key}→${to.key}→${M.S.site[step]}`;
      const edge = edges.get(key) || { from, to, op: siteOf(step).op, bytes: 0, count: 0, step, pipe: laneAt(step).pipe };
      // A move takes along what it reads; a computation only needs it.
      edge.bytes += Math.min(taken, Math.max(size, taken));
      edge.count++;
      edges.set(key, edge);
    }
  }
  return { nodes: [...nodes.values()], edges: [...edges.values()] };
}

function buildFlow(panel) {
  if (!M.A.length) { fill(panel, el("p", { class: "empty" }, "No operation has touched memory, so no data has flowed.")); return; }
  flowPart.graph = el("div", { class: "flow-box", tabindex: "0", role: "region", "aria-label": "Graph of tiles and moves" });
  flowPart.note = el("span", { class: "quiet" });
  const levels = choice("Level", [["tiles", "Tiles and buffers"], ["memories", "Memories"]], (value) => { flowPart.level = value; drawFlow(); });
  flowPart.levels = levels;
  fill(panel, el("div", { class: "toolbar" }, levels, button("+", () => zoomFlow(1.25), { "aria-label": "Larger" }), button("−", () => zoomFlow(0.8), { "aria-label": "Smaller" }), flowPart.note),
    flowPart.graph, movesTable());
  drawFlow();
}

function zoomFlow(factor) {
  flowPart.zoom = clamp(flowPart.zoom * factor, 0.2, 4);
  const svg = flowPart.graph.firstChild;
  if (svg) { svg.setAttribute("width", flowPart.wide * flowPart.zoom); svg.setAttribute("height", flowPart.tall * flowPart.zoom); }
}

function drawFlow() {
  let found = flows(flowPart.level);
  const crowded = flowPart.level === "tiles" && found.nodes.length > MOST_NODES;
  fill(flowPart.note, crowded ? `${found.nodes.length} tiles are too many for a picture, so these are the memories.` : "Thickness: bytes. Select a tile to look at it, an arrow to go to its first move.");
  if (crowded) found = flows("memories");
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "LR", nodesep: 18, ranksep: 64, marginx: 12, marginy: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  const inPlace = new Map(found.nodes.map((node) => [node.key, []]));
  for (const edge of found.edges) if (edge.from === edge.to) inPlace.get(edge.from.key).push(edge);
  for (const node of found.nodes) {
    const own = inPlace.get(node.key);
    graph.setNode(node.key, { width: Math.max(112, 8.2 * Math.max(node.name.length + 2, 14)), height: own.length ? 60 : 44, node, own });
  }
  found.edges.forEach((edge, at) => edge.from !== edge.to && graph.setEdge(edge.from.key, edge.to.key, { edge, width: 6.2 * edge.op.length, height: 30, labelpos: "c" }, String(at)));
  dagre.layout(graph);
  const { width, height } = graph.graph(), most = Math.max(1, ...found.edges.map((edge) => edge.bytes));
  flowPart.wide = width || 100;
  flowPart.tall = height || 100;
  const arrow = (name, colour) => el("marker", { id: name, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto-start-reverse" }, el("path", { d: "M0,0 L8,4 L0,8 Z", fill: colour }));
  const svg = el("svg", { viewBox: `0 0 ${flowPart.wide} ${flowPart.tall}`, role: "group", "aria-label": "Data flow" }, el("defs", null, arrow("arrow", colours().signal)));
  for (const name of graph.edges()) svg.append(flowEdge(graph.edge(name), most));
  for (const name of graph.nodes()) svg.append(flowNode(graph.node(name)));
  fill(flowPart.graph, svg);
  const room = flowPart.graph.clientWidth || 700;
  flowPart.zoom = clamp(room / flowPart.wide, 0.45, 1.25);
  zoomFlow(1);
}

function flowEdge({ points, edge, x, y }, most) {
  // Name and count stand on both sides of the line.
  const c = colours(), thick = 1.2 + 5 * Math.sqrt(edge.bytes / most), above = y - thick / 2 - 3, below = y + thick / 2 + 10;
  const line = points.map((one, at) => `${at ? "L" : "M"}${one.x},${one.y}`).join(" ");
  return el("g", { class: "flow-node", onclick: () => select(edge.step, { reveal: true, keep: true }) },
    el("path", { d: line, fill: "none", stroke: pipeColour(edge.pipe), "stroke-width": thick, "stroke-linejoin": "round", "marker-end": "url(#arrow)" }),
    el("text", { x, y: above, "text-anchor": "middle", "font-size": 10.5, stroke: c.paper, "stroke-width": 3, "paint-order": "stroke" }, edge.op.replace(/^\w+\./, "")),
    el("text", { x, y: below, "text-anchor": "middle", "font-size": 9.5, stroke: c.paper, "stroke-width": 3, "paint-order": "stroke" }, `${edge.count}× ${bytesText(edge.bytes)}`),
    el("title", null, `${edge.op} on ${shortPipe(edge.pipe)}: ${edge.from.name} to ${edge.to.name}, ${edge.count} times, ${bytesText(edge.bytes)}`));
}

function flowNode({ x, y: middle, width, height, node, own }) {
  const c = colours(), act = () => { if (flowPart.level === "tiles") { selectBox(node.box); show("tiles"); } };
  const y = middle - (own.length ? 8 : 0), top = middle - height / 2;
  const names = [...new Set(own.map((edge) => edge.op.replace(/^\w+\./, "")))], shown = names.slice(0, 2).join(", ") + (names.length > 2 ? ", …" : "");
  return el("g", { class: "flow-node", tabindex: "0", role: "button", onclick: act, onkeydown: (event) => { if (event.key === "Enter") act(); } },
    el("rect", { x: x - width / 2, y: top, width, height, rx: 7, fill: c.paper, stroke: spaceColour(node.space), "stroke-width": 2.5 }),
    el("rect", { x: x - width / 2, y: top, width: 7, height, rx: 3, fill: spaceColour(node.space) }),
    el("text", { x: x + 3, y: y - 3, "text-anchor": "middle", "font-size": 12.5, "font-weight": 600 }, node.name),
    el("text", { x: x + 3, y: y + 13, "text-anchor": "middle", "font-size": 10.5 }, flowPart.level === "tiles" && node.name !== node.space ? `${node.space} · ${bytesText(node.size)} ${node.format}` : `${bytesText(node.read)} read, ${bytesText(node.written)} written`),
    own.length ? el("text", { x: x + 3, y: y + 28, "text-anchor": "middle", "font-size": 10.5 }, `↻ ${shown}`) : "",
    el("title", null, `${names.length ? `In place: ${names.join(", ")}. ` : ""}${node.name}: ${bytesText(node.read)} read, ${bytesText(node.written)} written`));
}

/** Bytes that each kind of move takes between memories. */
function movesTable() {
  const { edges } = flows("memories"), rows = edges.sort((one, other) => other.bytes - one.bytes).slice(0, 200)
    .map((edge) => [edge.from.name, edge.to.name, stepLink(edge.step), shortPipe(edge.pipe), edge.count.toLocaleString("en"), bytesText(edge.bytes)]);
  return el("details", { class: "more" }, el("summary", null, "Bytes between memories"), table(["from", "to", "operation", "pipe", "#times", "#bytes"], rows, { label: "Bytes between memories" }));
}

on("shown", (part) => { if (part === "flow" && flowPart.graph) drawFlow(); });
on("theme", () => { if (flowPart.graph && panels.get("flow").classList.contains("shown")) drawFlow(); });
