package oracletest

import (
	"encoding/json"

	"pgregory.net/rapid"
)

// DrawModel draws the file of a scorer's model for drawn worlds and contexts. Many factors are equal; some are 0 and some are the
// highest.
func DrawModel(t *rapid.T) []byte {
	weight := func(label string) int64 {
		return oneOf(t, label, []int64{0, 0, 0, 64, -64, 256, -300, 1, -1, 900, -900, 3000, -3000})
	}
	weights := map[string]map[string]int64{}
	for _, of := range [][]string{
		{"match", "exact", "phrase", "broad"}, {"words", "1", "2", "3", "4"}, {"quality", "1", "5", "7", "10"},
		{"advertiser", "1", "2", "3"}, {"campaign", "1", "2", "4"}, {"device", "desktop", "mobile"},
		{"hour", "0", "1", "12", "23"}, {"weekday", "saturday", "sunday"}, {"query_words", "1", "2", "5", "32"},
		{"site", "news.example", "sub.news.example", "example"},
	} {
		if name := of[0]; rapid.Bool().Draw(t, "has "+name) {
			weights[name] = map[string]int64{}
			for _, v := range of[1:] {
				weights[name][v] = weight(name)
			}
		}
	}
	type tree struct {
		Splits [][2]any `json:"splits"`
		Leaves []int64  `json:"leaves"`
	}
	trees := []tree{}
	for range rapid.IntRange(0, 3).Draw(t, "trees") {
		var of tree
		for range rapid.IntRange(1, 3).Draw(t, "splits") {
			of.Splits = append(of.Splits, [2]any{
				oneOf(t, "feature", []string{"match", "words", "quality", "advertiser", "campaign", "device", "hour", "weekday", "query_words"}),
				oneOf(t, "above", []uint64{0, 1, 2, 3, 5, 11}),
			})
		}
		for range 1 << len(of.Splits) {
			of.Leaves = append(of.Leaves, weight("leaf"))
		}
		trees = append(trees, of)
	}
	file, err := json.Marshal(map[string]any{"format": 1, "bias": weight("bias"), "weights": weights, "trees": trees})
	if err != nil {
		panic(err)
	}
	return file
}
