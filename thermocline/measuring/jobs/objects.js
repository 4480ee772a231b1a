// Objects, arrays, closures and strings, with JSON both ways. Arguments: a list's length, and rounds.
var length = +scriptArgs[0], rounds = +scriptArgs[1];
var names = Math.floor(length / 6000 * 1013);
function list(n) {
    var head = null;
    for (var i = 0; i < n; ++i)
        head = { value: i, name: "item" + (i % names), next: head };
    return head;
}
var total = 0;
for (var round = 0; round < rounds; ++round) {
    var counts = {};
    for (var node = list(length); node; node = node.next) {
        counts[node.name] = (counts[node.name] || 0) + 1;
        total += node.value;
    }
    var text = JSON.stringify(counts);
    total += Object.keys(JSON.parse(text)).length;
    var parts = text.split(",").map(function (part) { return part.toUpperCase(); });
    total += parts.join(";").length;
}
print(total);
