-- Tables, an index, joins, sorting and strings, in memory: sqlite's own page cache and small blocks.
-- `.parameter set @rows N`: how many rows there are.
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, price REAL, kind INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < @rows)
INSERT INTO item SELECT i, 'item ' || (i * 7919 % @rows), (i * 31 % 1000) / 10.0, i % 97 FROM n;
CREATE INDEX by_name ON item(name);
CREATE TABLE sale AS SELECT id * 13 % @rows AS item, id % 7 AS amount FROM item;
SELECT kind, count(*), round(sum(price * amount), 2) FROM item JOIN sale ON sale.item = item.id
  GROUP BY kind ORDER BY 3 DESC LIMIT 5;
SELECT count(DISTINCT substr(name, 1, 8)), max(length(name)) FROM item;
UPDATE item SET name = upper(name) || ' (' || kind || ')' WHERE kind < 30;
SELECT name FROM item ORDER BY name DESC LIMIT 3;
DELETE FROM item WHERE price < 20;
SELECT length(group_concat(name, ';')) FROM (SELECT name FROM item ORDER BY price, id);
SELECT count(*) FROM (SELECT a.id FROM item a JOIN item b ON a.kind = b.kind AND b.id < 200);
