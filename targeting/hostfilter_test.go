package targeting

import (
	"fmt"
	"testing"
)

// TestLargeBlocks: of a large set of domains each entry and its subdomains are met, and nothing else, and the filter leaves few others.
func TestLargeBlocks(t *testing.T) {
	var list []string
	for i := range 3 * filtered {
		list = append(list, fmt.Sprintf("host-%d.example", i))
	}
	b := NewBlocks(nil, list, nil, false)
	if b.filter == nil || NewBlocks(nil, list[:10], nil, false).filter != nil {
		t.Fatal("large sets have a filter, small ones none")
	}
	wrong := 0
	for i := range 6 * filtered {
		host := fmt.Sprintf("host-%d.example", i)
		if in := i < len(list); b.domain(host) != in || b.domain("shop."+host) != in || b.domain("x"+host) {
			t.Fatalf("%s: %v", host, b.domain(host))
		}
		if i >= len(list) && b.filter.may(host) {
			wrong++
		}
	}
	if wrong > filtered/10 {
		t.Errorf("the filter lets %d of %d pass", wrong, 3*filtered)
	}
}
