// Objects, arrays, closures and strings, with JSON both ways.
function list(n) {
    var head = null;
    for (var i = 0; i < n; ++i)
        head = { value: i, name: "item" + (i % 1013), next: head };
    return head;
}
var total = 0;
for (var round = 0; round < 12; ++round) {
    var counts = {};
    for (var node = list(6000); node; node = node.next) {
        counts[node.name] = (counts[node.name] || 0) + 1;
        total += node.value;
    }
    var text = JSON.stringify(counts);
    total += Object.keys(JSON.parse(text)).length;
    var parts = text.split(",").map(function (part) { return part.toUpperCase(); });
    total += parts.join(";").length;
}
print(total);
