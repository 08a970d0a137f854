package footprint

import (
	"math"
	"runtime"
	"strings"
)

// sites maps functions to causes: an allocation belongs to the first entry whose
// function is on its stack.
var sites = []struct{ cause, function string }{
	{"posting lists: blocks not yet searched", "barrels/index.NewBlock"},
	{"posting lists: classes, members and bytes", "barrels/index.(*Block).pack"},
	{"posting lists: impacts", "barrels/index.NewImpacts"},
	{"posting lists: heads of lists and blocks", "barrels/index.(*ListBuilder)"},
	{"dictionary", "barrels/index.NewDictionary"},
	{"parents", "barrels/index.loadParents"},
	{"groups: records", "barrels/record.ReadGroup"},
	{"groups: texts of keywords", "barrels/query.(*groupReader).readGroup"},
	{"groups: the cache's table", "barrels/index.(*Cache"},
	{"display: table", "barrels/query.NewDisplayCache"},
	{"display: entries", "barrels/query.(*ranking).compose"},
	{"searches under way", "barrels/query."},
}

// siteOf returns the index of the first site that is on a stack, or len(sites).
func siteOf(stack []uintptr) int {
	least := len(sites)
	frames := runtime.CallersFrames(stack)
	for {
		f, more := frames.Next()
		for i := range sites[:least] {
			if strings.Contains(f.Function, sites[i].function) {
				least = i
				break
			}
		}
		if !more {
			return least
		}
	}
}

// scaled estimates how many bytes a sampled site holds, as runtime/pprof does.
func scaled(objects, bytes int64) int64 {
	if objects == 0 || bytes == 0 {
		return 0
	}
	average := float64(bytes) / float64(objects)
	return int64(float64(bytes) / (1 - math.Exp(-average/ProfileRate)))
}
