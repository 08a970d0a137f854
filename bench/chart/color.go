package chart

import (
	"hash/fnv"
	"strconv"
	"strings"
)

// named holds the colour of each name that adbench draws, the same in every
// chart of every page. All colours are visible on white and on dark backgrounds.
var named = map[string]string{
	// Layouts of keywords: the product green, the thesis' blue, the others chosen
	// by hand.
	"served": "#009e73", "served-top": "#5c8a00", "served-expanded": "#2e8b57", "served-prepared": "#227a50", "served-mixed": "#6b8e23",
	"floor": "#7f7f7f", "PebbleDB": "#8f7a1f", "structs": "#b3791a",
	"B": "#7d6bd0", "RDB-Pr-Fl-Opt": "#0072b2", "RDB-Pr": "#1b86d1", "RDB-Pr-Opt": "#5f7fd6", "RDB-Pr-Pr": "#4b6f9c",
	"RDB-Pr-Pr-Opt": "#3f7fbf", "RDB-Pr-Fl": "#2f8fa8", "RDB-Pr-NS": "#00898f", "RDB-Pr-NS-Opt": "#8a6fbf",
	"RDB-Pr-Cp": "#b5651d", "RDB-Pr-Cp-Opt": "#a06a9f",
	"RInK": "#a8577a", "stateful": "#8a7a4f", "LInK": "#3f8f6f",
	// Other systems.
	"postgres": "#d55e00", "postgres-anchor": "#b8602b", "lucene": "#c2577e", "bleve": "#cc79a7", "bleve-terms": "#b04fb0",
	// Strategies.
	"original": "#c44e2b", "random": "#0074b4", "weighted-move": "#00966d", "weighted-move-fast": "#8f6fd0",
	"random groups": "#6a7f8f", "topics": "#d6247f", "autoplacer": "#96683f", "esdb": "#b0512f",
	"consistent-random": "#a3850a", "consistent-equal": "#8a8a00", "consistent-fixed": "#c07400", "rendezvous": "#0092b4",
	"rao-one": "#a35fb0", "rao-many": "#7d5fc0", "rao-pool": "#c45fa0", "cassandra": "#4f9f2f", "srinivasan": "#3a8070",
}

// rest holds the colours for names that named lacks.
var rest = [...]string{"#1a74b8", "#d1495b", "#3f8f4f", "#a86f1b", "#9467bd", "#5a7f9f", "#c0504d", "#778f1f", "#a8577a", "#1f8f8f"}

// Color returns the colour of a name, "#rrggbb", which is always the same.
// Neighbouring slaves ("slave-0" and so on) have different colours.
func Color(name string) string {
	if c, ok := named[name]; ok {
		return c
	}
	if _, number, ok := strings.Cut(name, "slave-"); ok {
		if n, err := strconv.ParseUint(number, 10, 31); err == nil {
			return rest[n%uint64(len(rest))]
		}
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // writing to a hash never fails
	return rest[h.Sum32()%uint32(len(rest))]
}
