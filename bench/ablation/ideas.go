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
				"barrels/termblock.go", "c, found := table.find(v, g.rows, kind, words)",
				"c, found := uint16(len(g.rows)), false\n\t\t_, _, _ = table, kind, words",
			}},
		},
		{
			Name: "lists", What: "the blocks of terms are kept in memory, ready to be searched", Instead: "read from RocksDB's cache and verified by each search",
			Patches: []Patch{{"barrels/termlist.go", "{ return l.limit / 8 }", "{ return 0 }"}},
		},
		{
			Name: "judgement", What: "what statuses, budgets and modifiers make of a block is kept with it", Instead: "found out by each search",
			Patches: []Patch{{"barrels/contenders.go", "level search.Level) {\n\tif f.tally.active {", "level search.Level) {\n" + judgeEach + "\tif f.tally.active {"}},
		},
		{
			Name: "sums", What: "a class is counted without a look at its postings", Instead: "posting by posting",
			Patches: []Patch{{"barrels/contenders.go", "if s.least <= least {", "if s.live >= 0 {"}},
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
			Patches: []Patch{{"search/scan.go", "if sig.Within(s.signature) {", "if !sig.Within(0) {"}},
		},
		{
			Name: "beaten", What: "classes that cannot win are not held against the query", Instead: "all that their signature lets through are",
			Patches: []Patch{{"barrels/contenders.go", "if f.request.ExactCounts || need == 0 {", "if f.request.ExactCounts || need >= 0 {"}},
		},
		{
			Name: "norms", What: "broad keywords are compared by their words' hashes alone", Instead: "by the way for all match types and levels",
			Patches: []Patch{{"search/matcher.go", "const normsMost = 12", "const normsMost = 0"}},
		},
		{
			Name: "bounds", What: "blocks that cannot win are passed over", Instead: "none is",
			Patches: []Patch{
				{"barrels/sink.go", "if need == 0 || f.request.ExactCounts {", "if need >= 0 {"},
				{"barrels/choose.go", "return b.Own >= c.own || b.Inherited >= c.inherited", "return true"},
			},
		},
		{
			Name: "promising", What: "the most promising of many blocks are visited first", Instead: "all in the order of their keys",
			Patches: []Patch{{"barrels/choose.go", "\t\tc.promising(l)\n", ""}},
		},
		{
			Name: "contenders", What: "the most promising classes are looked at first", Instead: "as they are met",
			Patches: []Patch{{"barrels/contenders.go", "n < firstContenders && len(rest) > 0", "n < 0"}},
		},
		{
			Name: "ranked", What: "the postings of a class lie by what they are worth", Instead: "as they come, all of them looked at",
			Patches: []Patch{
				{"barrels/judge.go", "\t\trank(entries, members)\n", ""},
				{"barrels/contenders.go", "if score == 0 || e&surpassed != 0 || f.top.Lost(score, m.keyword) {\n\t\t\treturn", "if score == 0 || f.top.Lost(score, m.keyword) {\n\t\t\tcontinue"},
			},
		},
		{
			Name: "side by side", What: "candidates of several blocks are decided on together", Instead: "block by block",
			Patches: []Patch{{"search/scan.go", "if !later || len(s.candidates) >= together {", "if true {"}},
		},
	}
}

// judgeEach is finder.class as it would be if nothing were known of a block's
// postings before.
const judgeEach = `	if f != nil {
		first, end := b.of(i)
		if f.tally.active {
			f.tally.matches(b, b.members()[first:end])
		}
		f.at(b)
		for _, m := range b.members()[first:end] {
			f.posting(int(m.posting), level)
		}
		return
	}
`
