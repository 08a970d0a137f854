package oracle

import (
	"crypto/sha256"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"adshard/search"
)

// Model is a scorer's model (serving.md §16).
type Model struct {
	ID      search.ScorerID
	Bias    int64
	Weights map[string]map[string]int64
	Trees   []struct {
		Splits [][2]any
		Leaves []int64
	}
}

// ReadModel reads the file of a model, which must be valid.
func ReadModel(file []byte) *Model {
	m := new(Model)
	if err := json.Unmarshal(file, m); err != nil {
		panic("oracle: " + err.Error())
	}
	sum := sha256.Sum256(file)
	m.ID = search.ScorerID(sum[:16])
	return m
}

// factor returns f for a keyword that matches.
func (m *Model) factor(k *keyword, query []*word, r *Request) uint64 {
	at := r.Context.Time.UTC()
	numbers := map[string]uint64{
		"match": uint64(k.Type), "words": uint64(len(k.words)), "quality": k.points(),
		"advertiser": k.advertiser.ID, "campaign": k.campaign.ID,
		"device": uint64(r.Device), "hour": uint64(at.Hour()), "weekday": uint64(at.Weekday()), "query_words": uint64(len(query)),
	}
	z := m.Bias
	for name, n := range numbers {
		value := strconv.FormatUint(n, 10)
		switch name {
		case "match":
			value = k.Type.String()
		case "device":
			value = r.Device.String()
		case "weekday":
			value = strings.ToLower(at.Weekday().String())
		}
		z += m.Weights[name][value]
	}
	z += m.site(r.Context.Host)
	for _, tree := range m.Trees {
		leaf := 0
		for i, s := range tree.Splits {
			if numbers[s[0].(string)] > uint64(s[1].(float64)) {
				leaf += int(math.Pow(2, float64(i)))
			}
		}
		z += tree.Leaves[leaf]
	}
	return uint64(math.Round(2000 / (1 + math.Exp(-float64(z)/256))))
}

// site returns the weight of the longest domain that contains a host.
func (m *Model) site(host string) (weight int64) {
	longest := 0
	for domain, w := range m.Weights["site"] {
		if (host == domain || strings.HasSuffix(host, "."+domain)) && len(domain) > longest {
			longest, weight = len(domain), w
		}
	}
	return weight
}
