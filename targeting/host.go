package targeting

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

var (
	errHost = errors.New("not a host, such as shop.example.com")
	errSite = errors.New("a site is a host and perhaps a path, such as example.com/cameras: no scheme, port, user, query or fragment")
)

// mapping is UTS 46, non-transitional, with the tables of Unicode 15.0. It does not check hyphens, bidirectional text or joiners
// (serving.md §12.6).
var mapping = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false), idna.CheckHyphens(false), idna.CheckJoiners(false))

// Bounds of hosts.
const (
	maxHost  = 253
	maxGiven = 1024 // of the given text, in bytes: the cost of mapping it grows with the square of its length
	maxLabel = 63
)

// Host normalises a host (serving.md §12.6): it returns the host in ASCII and lower case, without a final dot, and without a leading
// www. if at least two more labels follow.
func Host(s string) (string, error) {
	h := s
	if !inASCII(s) {
		var ok bool
		if h, ok = toASCII(s); !ok {
			return "", errHost
		}
	}
	h = strings.TrimSuffix(h, ".")
	if !labelled(h) {
		return "", errHost
	}
	if rest, ok := strings.CutPrefix(h, "www."); ok && strings.Contains(rest, ".") {
		return rest, nil
	}
	return h, nil
}

// inASCII reports whether UTS 46 maps a text to itself: it has only characters of labels and dots, and no part that may be encoded.
func inASCII(s string) bool {
	for i := range len(s) {
		if !ofHost[s[i]] || s[i] == 'x' && strings.HasPrefix(s[i:], "xn--") {
			return false
		}
	}
	return true
}

// ofHost marks the characters of normalised hosts.
var ofHost = func() (is [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyz0123456789-_.") {
		is[c] = true
	}
	return is
}()

// labelled reports whether a text is at most maxHost bytes long and consists of labels of normalised hosts, none of which is empty
// or too long.
func labelled(h string) bool {
	label := 0
	for i := range len(h) {
		switch {
		case !ofHost[h[i]]:
			return false
		case h[i] != '.':
			label++
		case label == 0 || label > maxLabel:
			return false
		default:
			label = 0
		}
	}
	return label > 0 && label <= maxLabel && len(h) <= maxHost
}

// toASCII maps a text to a host in ASCII. It returns false if the text is not a host.
func toASCII(s string) (string, bool) {
	if len(s) > maxGiven || !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return "", false
	}
	h, err := mapping.ToASCII(s)
	if err != nil {
		return "", false
	}
	if strings.HasSuffix(h, ".") { // that of the text, or an encoded label of nothing
		if more, err := mapping.ToASCII(s + "x"); err != nil || more != h+"x" {
			return "", false
		}
	}
	letters, err := mapping.ToUnicode(h)
	if err != nil {
		return "", false
	}
	for label := range strings.SplitSeq(letters, ".") { // the package looks for marks only when it looks for joiners
		if first, _ := utf8.DecodeRuneInString(label); unicode.Is(unicode.M, first) {
			return "", false
		}
	}
	return h, true
}

// URLHost returns the normalised host of a URL, or false if the URL has no proper host. The host is the text between :// and the
// first of / ? # \, after the last @ and without a port.
func URLHost(url string) (string, bool) {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		return "", false
	}
	if end := strings.IndexAny(rest, `/?#\`); end >= 0 {
		rest = rest[:end]
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = rest[at+1:]
	}
	if colon := strings.LastIndexByte(rest, ':'); colon >= 0 {
		rest = rest[:colon]
	}
	h, err := Host(rest)
	return h, err == nil
}

// under reports whether a host is a domain or one of its subdomains.
func under(host, domain string) bool {
	rest, ok := strings.CutSuffix(host, domain)
	return ok && (rest == "" || rest[len(rest)-1] == '.')
}

// Page is a normalised host with an optional path, which begins with /.
type Page struct{ Host, Path string }

// ParsePage reads a site such as example.com/cameras.
func ParsePage(s string) (Page, error) {
	if strings.ContainsAny(s, `?#\`) || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return Page{}, errSite
	}
	host, path, _ := strings.Cut(s, "/")
	if strings.ContainsAny(host, ":@") {
		return Page{}, errSite
	}
	h, err := Host(host)
	if err != nil {
		return Page{}, errSite
	}
	if path == "" {
		return Page{Host: h}, nil
	}
	path, ok := normalPath("/" + path)
	if !ok {
		return Page{}, errSite
	}
	return Page{h, strings.TrimSuffix(path, "/")}, nil
}

// normalPath decodes the unreserved characters of a path and writes the hex digits of other encoded characters in upper case. It
// returns false if a percent sign is not followed by two hex digits.
func normalPath(path string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] != '%' {
			b.WriteByte(path[i])
			continue
		}
		if i+2 >= len(path) {
			return "", false
		}
		hi, lo := unhex(path[i+1]), unhex(path[i+2])
		if hi < 0 || lo < 0 {
			return "", false
		}
		i += 2
		if c := byte(hi<<4 | lo); unreserved(c) {
			b.WriteByte(c)
		} else {
			const digits = "0123456789ABCDEF"
			b.Write([]byte{'%', digits[hi], digits[lo]})
		}
	}
	return b.String(), true
}

// unhex returns the value of a hex digit, or −1 if c is not one.
func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// unreserved reports whether a character is unreserved in RFC 3986, section 2.3.
func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

// String returns the page in a form that ParsePage reads as the same page.
func (p Page) String() string {
	if strings.HasSuffix(p.Path, "/") { // ParsePage cuts off one slash
		return WrittenHost(p.Host) + p.Path + "/"
	}
	return WrittenHost(p.Host) + p.Path
}

// WrittenHost returns a text that Host reads as the given normalised host: the host itself, unless Host would remove another www.
// from it.
func WrittenHost(host string) string {
	if rest, ok := strings.CutPrefix(host, "www."); ok && strings.Contains(rest, ".") {
		return "www." + host
	}
	return host
}

// holds reports whether q is the page or lies below it.
func (p Page) holds(q Page) bool {
	if !under(q.Host, p.Host) {
		return false
	}
	rest, ok := strings.CutPrefix(q.Path, p.Path)
	return ok && (p.Path == "" || rest == "" || rest[0] == '/')
}
