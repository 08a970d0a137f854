package ablation

// Ideas are those of the product's search, in the order of a search's way.
func Ideas() []Idea {
	return append(lying(), looking()...)
}

// lying are the ideas about how keywords lie, on disk and in memory.
func lying() []Idea {
	return []Idea{
		{
			Name: "rarest", What: "a keyword is anchored at the rarest of its words", Instead: "at the first",
			Patches: []Patch{
				{"barrels/group.go", "if len(terms) == 1 {\n\t\treturn terms[0]", "if len(terms) >= 1 {\n\t\treturn terms[0]"},
				{"barrels/bulkitems.go", "if len(terms) == 1 {\n\t\treturn best", "if len(terms) >= 1 {\n\t\treturn best"},
				{
					"barrels/reanchor.go", "func (w *writer) drift(k *keywordData) bool {\n\tfor i, f := range k.forms {",
					"func (w *writer) drift(k *keywordData) bool {\n\tfor i, f := range k.forms[:0] {",
				},
			},
		},
		{
			Name: "blocks", What: "postings lie in blocks of 128", Instead: "each by itself",
			Patches: []Patch{{"barrels/block/entry.go", "Target = 128\n\tMax    = 192", "Target = 1\n\tMax    = 1"}},
		},
		{
			Name: "classes", What: "postings with the same words are held against the query once", Instead: "each by itself",
			Patches: []Patch{{
				"barrels/termblock.go", "c, found := table.find(b, kind, words)",
				"c, found := uint16(len(b.classes)), false\n\t\t_ = table",
			}},
		},
		{
			Name: "lists", What: "the blocks of terms are kept in memory, ready to be searched", Instead: "read from RocksDB's cache and verified by each search",
			Patches: []Patch{{"barrels/termlist.go", "{ return l.limit / 8 }", "{ return 0 }"}},
		},
		{
			Name: "together", What: "what a search reads of a block lies together in memory", Instead: "each by itself",
			Patches: []Patch{{
				"barrels/termblock.go", "b.pack(n)",
				"b.members, b.qualities = make([]member, n), make([]uint8, n)",
			}},
		},
		{
			Name: "judgement", What: "what statuses, budgets and modifiers make of a block is kept with it", Instead: "found out by each search",
			Patches: []Patch{{
				"barrels/contenders.go", "\tif b == nil {\n\t\tf.posting(i, level)\n\t\treturn\n\t}\n",
				"\tif b == nil {\n\t\tf.posting(i, level)\n\t\treturn\n\t}\n" + judgeEach,
			}},
		},
		{
			Name: "sums", What: "a class is counted without a look at its postings", Instead: "posting by posting",
			Patches: []Patch{{"barrels/contenders.go", "if s.unclear || s.least <= least && s.candidates > 0 {", "if s.unclear || s.candidates >= 0 {"}},
		},
		{
			Name: "shown", What: "what is shown of a keyword that was among the best is kept", Instead: "put together by each search",
			Patches: []Patch{{"barrels/shown.go", "s := slot.Load()", "s := (*shown)(nil)"}},
		},
	}
}

// looking are the ideas about what a search looks at.
func looking() []Idea {
	return []Idea{
		{
			Name: "known", What: "of a query's terms only those count that keywords may have", Instead: "all, in each language",
			Patches: []Patch{
				{"barrels/reader.go", "f := foundTerm{}\n", "f := foundTerm{}\n\t\tknown = append(known, int32(i))\n"},
				{"barrels/reader.go", "known = append(known, int32(i))\n\t\t\tf.anchors", "f.anchors"},
			},
		},
		{
			Name: "beside", What: "memory is asked for all terms, and all that are shown, side by side", Instead: "waited for one by one",
			Patches: []Patch{
				{"barrels/reader.go", "for i := range terms {\n\t\tr.touched", "for i := range terms[:0] {\n\t\tr.touched"},
				{"barrels/reader.go", "r.found = append(r.found, f)\n\t}\n", "r.found = append(r.found, f)\n\t}\n\tif len(known) >= 0 {\n\t\treturn known\n\t}\n"},
				{"barrels/hits.go", "\tf.touch(ranked)\n", ""},
			},
		},
		{
			Name: "signatures", What: "signatures turn away most classes", Instead: "the words of each are looked at",
			Patches: []Patch{{"search/scan.go", "if !sig.Within(s.signature) || s.sink.PassClass(b, i, s.best) {", "if sig.Within(0) || s.sink.PassClass(b, i, s.best) {"}},
		},
		{
			Name: "beaten", What: "classes that cannot win are not held against the query", Instead: "all that their signature lets through are",
			Patches: []Patch{{"search/scan.go", "if !sig.Within(s.signature) || s.sink.PassClass(b, i, s.best) {", "if !sig.Within(s.signature) {"}},
		},
		{
			Name: "norms", What: "broad keywords are compared by their words' hashes alone", Instead: "by the way for all match types and levels",
			Patches: []Patch{{"search/matcher.go", "const askedMost = 12", "const askedMost = 0"}},
		},
		{
			Name: "bounds", What: "blocks that cannot win are passed over", Instead: "none is",
			Patches: []Patch{
				{"barrels/sink.go", "need > 0 && !f.request.ExactCounts {\n\t\td :=", "need > 0 && false {\n\t\td :="},
				{"barrels/choose.go", "return b.Own >= c.own || b.Inherited >= c.inherited", "return true"},
			},
		},
		{
			Name: "promising", What: "the most promising of many blocks are visited first", Instead: "all in the order of their keys",
			Patches: []Patch{{"barrels/choose.go", "first := c.promising(bounds)", "first := c.first[:0]"}},
		},
		{
			Name: "contenders", What: "where all are counted, the most promising class is looked at first", Instead: "as they are met",
			Patches: []Patch{{"barrels/contenders.go", "if f.request.ExactCounts { // nothing", "if false { // nothing"}},
		},
	}
}

// judgeEach is finder.Match as it would be if nothing were known of a block's
// postings before.
const judgeEach = `	if b != nil {
		first, end := b.of(i)
		if f.tally.active {
			f.tally.matches(&b.view, b.members[first:end])
		}
		for m := first; m < end; m++ {
			f.posting(int(b.members[m].posting), level)
		}
		return
	}
`
