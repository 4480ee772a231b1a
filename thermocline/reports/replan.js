"use strict";
// The strategies that the page can follow while the boundary is dragged: hotset and thermos as
// thermocline/strategies has them (Olson et al. 2018, section III.A).  `sites` come hottest byte
// first, `room` is bytes.  The answer is a Set of places in `sites`.  tests/python/test_report_page.py
// holds both against each other.

function hotset(sites, room) {
  const fast = new Set();
  let packed = 0;
  for (let i = 0; i < sites.length; i++) {
    packed += sites[i].bytes;
    fast.add(i);
    if (packed > room) break;
  }
  return fast;
}

function thermos(sites, room) {
  const fast = new Set();
  const admitted = [], bytes = [0], traffic = [0];
  // Traffic of the hottest `count` admitted bytes, the last site counted pro rata.
  const hottest = (count) => {
    let low = 0, high = bytes.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (bytes[middle] <= count) low = middle; else high = middle - 1;
    }
    const rest = count - bytes[low];
    return rest ? traffic[low] + admitted[low].traffic * rest / admitted[low].bytes : traffic[low];
  };
  sites.forEach((site, i) => {
    const packed = bytes[bytes.length - 1];
    if (site.bytes === 0) { fast.add(i); return; }
    const passes = packed + site.bytes - room;
    if (passes > 0 && !(site.traffic > hottest(Math.min(packed, passes)))) return;
    fast.add(i);
    admitted.push(site);
    bytes.push(packed + site.bytes);
    traffic.push(traffic[traffic.length - 1] + site.traffic);
  });
  return fast;
}

const strategies = { hotset, thermos };
