// Gen makes counters of the fields of structs, from their tags: in place of the
// annotations and the transformation of code of AutoShard. It is called by go generate, in
// the directory of the file that is marked:
//
//	//go:generate go run adshard/counters/gen
//
//	type Question struct {
//		ID        int64      `counter:"key"`
//		Votes     int64      `counter:"neutral=0 shards=10 fold=foldVotes update=voteUp,voteDown"`
//		Responses []Response `counter:"group shards=4"`
//	}
//
// A struct has one field with key, which names its counters. The tags of the others have, separated
// by spaces:
//
//   - fold=F, update=U,…: functions of the same package, func(a, b V) V and func(V) V. Each
//     update becomes a method of the generated QuestionCounters: voteUp is VoteUp. It is made
//     to a shard, and to the field of the struct that is passed.
//   - neutral=X: an expression without spaces; default: the zero value of the field's type.
//   - shards=N: static, with N shards; shards=adaptive; without it: dynamic, as in the paper.
//   - group: the field is a slice of entries, kept as a log; shards are its parts.
//
// For question.go it writes question_counters.go, and question_counters_test.go with the test of
// the laws (counters.Check), which reports a counterexample of a bad fold or update.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"adshard/internal/outfile"
)

func main() {
	if err := run(os.Getenv("GOFILE")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(file string) error {
	if !strings.HasSuffix(file, ".go") || len(os.Args) > 1 {
		return errors.New("gen: write //go:generate go run adshard/counters/gen into the file of the struct, and run go generate")
	}
	text, test, err := generate(file)
	if err != nil {
		return err
	}
	base := strings.TrimSuffix(file, ".go") + "_counters"
	if err := code(base + ".go").WriteBytes(text); err != nil || test == nil {
		return err
	}
	return code(base + "_test.go").WriteBytes(test)
}

// code is a Go file that only an earlier run may have made.
func code(path string) outfile.Output {
	return outfile.Output{Path: path, Kind: outfile.Kind{Name: "generated code", Is: outfile.Begins("// Code generated"), Mode: outfile.Public}}
}
