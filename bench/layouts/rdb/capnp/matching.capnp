@0x8509d9e385d81156;
# Matching data as the thesis would have had them in Cap'n Proto (section 9.3).

using Go = import "/go.capnp";
$Go.package("cp");
$Go.import("adshard/bench/layouts/rdb/cp");

struct Matching {
  # What decides whether a keyword matches.

  rest @0 :List(UInt64);
  # The hashes of the keyword's words after the first, which is the key's
  # (search/words).
}
