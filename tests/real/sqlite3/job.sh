# Fills, indexes, joins, sorts and edits tables in memory, then runs SQLite's own tests.
set -e
"$TREE/sqlite3" :memory: >queries.txt <<'SQL'
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, price REAL, kind INTEGER);
CREATE TABLE sale(item INTEGER, amount INTEGER, day INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
  INSERT INTO item SELECT i, 'item ' || (i * 7919 % 30011), i * 37 % 1000 / 10.0, i % 17 FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
  INSERT INTO sale SELECT i * 31 % 30000 + 1, i % 9, i % 365 FROM n;
CREATE INDEX by_name ON item(name);
CREATE INDEX by_item ON sale(item, day);
SELECT kind, count(*), sum(amount * price) FROM item JOIN sale ON item.id = sale.item
  GROUP BY kind ORDER BY kind;
SELECT name FROM item WHERE name LIKE 'item 12%' ORDER BY name DESC LIMIT 20;
SELECT day, group_concat(amount, '') FROM (SELECT * FROM sale ORDER BY item, day LIMIT 3000)
  GROUP BY day HAVING count(*) > 8;
DELETE FROM sale WHERE item % 3 = 0;
UPDATE item SET name = upper(name) || hex(id) WHERE kind < 5;
VACUUM;
SELECT sum(length(name)), max(name) FROM item;
PRAGMA integrity_check;
.dump item
SQL
"$TREE/fuzzcheck" "$TREE/test/fuzzdata2.db" "$TREE/test/fuzzdata4.db" >fuzzcheck.txt
