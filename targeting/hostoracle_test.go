package targeting

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// The oracle reads what serving.md §12.6 and §14 say about hosts sentence by sentence, and slowly. Of UTS 46 it uses only the table,
// one character at a time. Mapping, normalising, labels and RFC 3492 are its own.

// oracleTable is used for single characters only.
var oracleTable = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false), idna.CheckHyphens(false), idna.CheckJoiners(false))

// oracleMap returns the mapping of a character in UTS 46, or false if it is disallowed.
func oracleMap(r rune) (string, bool) {
	if r < 0x80 {
		return strings.ToLower(string(r)), true
	}
	s, err := oracleTable.ToUnicode(string(r))
	return s, err == nil
}

// oracleLabel returns a label in ASCII, or false if it is not valid.
func oracleLabel(label string) (string, bool) {
	if code, ok := strings.CutPrefix(label, "xn--"); ok {
		letters, ok := oracleDecode(code)
		if !ok || letters == "" || !norm.NFC.IsNormalString(letters) {
			return "", false
		}
		ascii := true
		for _, r := range letters { // each must be mapped to itself by UTS 46
			if to, ok := oracleMap(r); !ok || to != string(r) {
				return "", false
			}
			ascii = ascii && r < 0x80
		}
		if ascii { // its ASCII form would be another label
			return "", false
		}
		label = letters
	}
	if first, _ := utf8.DecodeRuneInString(label); label != "" && unicode.Is(unicode.M, first) {
		return "", false
	}
	for _, r := range label {
		if r >= 0x80 {
			label = "xn--" + oracleEncode(label)
			break
		}
	}
	if len(label) < 1 || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
		return "", false
	}
	return label, true
}

func oracleHost(s string) (string, bool) {
	if len(s) > 1024 || !utf8.ValidString(s) {
		return "", false
	}
	mapped := ""
	for _, r := range s {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			return "", false
		}
		to, ok := oracleMap(r)
		if !ok {
			return "", false
		}
		mapped += to
	}
	mapped = strings.TrimSuffix(norm.NFC.String(mapped), ".") // the final dot
	var labels []string
	for _, l := range strings.Split(mapped, ".") {
		a, ok := oracleLabel(l)
		if !ok {
			return "", false
		}
		labels = append(labels, a)
	}
	if len(strings.Join(labels, ".")) > 253 {
		return "", false
	}
	if labels[0] == "www" && len(labels) > 2 {
		labels = labels[1:]
	}
	return strings.Join(labels, "."), true
}

// oracleSite reads a host with an optional path.
func oracleSite(s string) (host, path string, ok bool) {
	for _, r := range s {
		if strings.ContainsRune(`?#\`, r) || unicode.IsSpace(r) || unicode.IsControl(r) {
			return "", "", false
		}
	}
	host = s
	if i := strings.Index(s, "/"); i >= 0 {
		host, path = s[:i], s[i:]
	}
	if strings.ContainsAny(host, ":@") {
		return "", "", false
	}
	if host, ok = oracleHost(host); !ok {
		return "", "", false
	}
	decoded := ""
	for path != "" {
		if path[0] != '%' {
			decoded, path = decoded+path[:1], path[1:]
			continue
		}
		const digits = "0123456789abcdef"
		if len(path) < 3 {
			return "", "", false
		}
		hex := strings.ToLower(path[1:3])
		hi, lo := strings.IndexByte(digits, hex[0]), strings.IndexByte(digits, hex[1])
		if hi < 0 || lo < 0 {
			return "", "", false
		}
		c := string([]byte{byte(16*hi + lo)})
		if !strings.Contains("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~", c) {
			c = "%" + strings.ToUpper(hex)
		}
		decoded, path = decoded+c, path[3:]
	}
	return host, strings.TrimSuffix(decoded, "/"), true
}

// oracleURL returns the host of a URL.
func oracleURL(url string) (string, bool) {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		return "", false
	}
	authority := ""
	for rest != "" && !strings.Contains(`/?#\`, rest[:1]) {
		authority, rest = authority+rest[:1], rest[1:]
	}
	parts := strings.Split(authority, "@")
	host := parts[len(parts)-1]
	if parts := strings.Split(host, ":"); len(parts) > 1 {
		host = strings.Join(parts[:len(parts)-1], ":")
	}
	return oracleHost(host)
}

// oracleUnder reports whether a host is a domain or below it, label by label.
func oracleUnder(host, domain string) bool {
	h, d := strings.Split(host, "."), strings.Split(domain, ".")
	return len(h) >= len(d) && strings.Join(h[len(h)-len(d):], ".") == strings.Join(d, ".")
}

// oracleHolds reports whether an entry applies to a page, by whole segments.
func oracleHolds(entryHost, entryPath, host, path string) bool {
	if !oracleUnder(host, entryHost) {
		return false
	}
	e, p := strings.Split(entryPath, "/"), strings.Split(path, "/")
	return len(p) >= len(e) && strings.Join(p[:len(e)], "/") == strings.Join(e, "/")
}

// The numbers of RFC 3492, section 5.
const (
	punyBase, punyMin, punyMax, punySkew, punyDamp, punyBias, punyFirst = 36, 1, 26, 38, 700, 72, 128
)

func oracleAdapt(delta, points int, first bool) int {
	if first {
		delta /= punyDamp
	} else {
		delta /= 2
	}
	delta += delta / points
	k := 0
	for ; delta > (punyBase-punyMin)*punyMax/2; k += punyBase {
		delta /= punyBase - punyMin
	}
	return k + (punyBase-punyMin+1)*delta/(delta+punySkew)
}

func oracleLimit(k, bias int) int { return min(max(k-bias, punyMin), punyMax) }

// oracleDecode implements section 6.2.
func oracleDecode(code string) (string, bool) {
	var out []rune
	if i := strings.LastIndexByte(code, '-'); i >= 0 {
		for _, c := range []byte(code[:i]) {
			if c >= 0x80 {
				return "", false
			}
			out = append(out, rune(c))
		}
		code = code[i+1:]
		if i == 0 { // a delimiter without basic characters before it
			return "", false
		}
	}
	n, at, bias := punyFirst, 0, punyBias
	for code != "" {
		before, weight := at, 1
		for k := punyBase; ; k += punyBase {
			if code == "" {
				return "", false
			}
			digit := strings.IndexByte("abcdefghijklmnopqrstuvwxyz0123456789", code[0])
			if code = code[1:]; digit < 0 {
				return "", false
			}
			if at += digit * weight; at > 1<<31-1 {
				return "", false
			}
			limit := oracleLimit(k, bias)
			if digit < limit {
				break
			}
			if weight *= punyBase - limit; weight > 1<<31-1 {
				return "", false
			}
		}
		bias = oracleAdapt(at-before, len(out)+1, before == 0)
		n, at = n+at/(len(out)+1), at%(len(out)+1)
		if n > unicode.MaxRune || n >= 0xd800 && n < 0xe000 {
			return "", false
		}
		out = append(out[:at], append([]rune{rune(n)}, out[at:]...)...)
		at++
	}
	return string(out), true
}

// oracleEncode implements section 6.3.
func oracleEncode(label string) string {
	points, out := []rune(label), ""
	for _, r := range points {
		if r < 0x80 {
			out += string(r)
		}
	}
	basic := len(out)
	done := basic
	if basic > 0 {
		out += "-"
	}
	n, delta, bias := rune(punyFirst), 0, punyBias
	for done < len(points) {
		next := rune(unicode.MaxRune)
		for _, r := range points {
			if r >= n {
				next = min(next, r)
			}
		}
		delta, n = delta+int(next-n)*(done+1), next
		for _, r := range points {
			if r < n {
				delta++
			}
			if r != n {
				continue
			}
			q := delta
			for k := punyBase; ; k += punyBase {
				limit := oracleLimit(k, bias)
				if q < limit {
					break
				}
				out += string("abcdefghijklmnopqrstuvwxyz0123456789"[limit+(q-limit)%(punyBase-limit)])
				q = (q - limit) / (punyBase - limit)
			}
			out += string("abcdefghijklmnopqrstuvwxyz0123456789"[q])
			bias, delta, done = oracleAdapt(delta, done+1, done == basic), 0, done+1
		}
		delta, n = delta+1, n+1
	}
	return out
}

// FuzzHosts: hosts, sites and URLs mean what the specification says, for blocks, for sites, and after writing and reading.
func FuzzHosts(f *testing.F) {
	for _, s := range [][2]string{
		{"example.com/a%2Fb", "https://shop.example.com/x"}, {"BÜCHER.example./x/", "http://u:p@xn--bcher-kva.example:80"},
		{"www.www.com", "https://[::1]:443/"}, {"xn--fa-hia.example/%41", "https://faß.example?x"}, {"0\x80", "//"},
		{"a.xn--", "x://a.\u00ad"}, {"\u0301a.example", "https://xn--a-xbb.example"}, {"1.2.3.4/%e2%82%ac", "https://1.2.3.4:"},
		{"example。com", "https://a@b@EXAMPLE．COM"}, {"a\u200db.example", "x://a..b"}, {"xn--abc-.example", "x://ⓐ.example"}, {"www.www.a.b//", "x://-"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, site, url string) {
		if len(site) > 2000 || len(url) > 2000 {
			return
		}
		p, err := ParsePage(site)
		host, path, ok := oracleSite(site)
		if (err == nil) != ok || ok && p != (Page{host, path}) {
			t.Fatalf("the site %q: %+v, %v, and read slowly %q %q, %v", site, p, err, host, path, ok)
		}
		block, err := Host(site)
		domain, isHost := oracleHost(site)
		if (err == nil) != isHost || isHost && block != domain {
			t.Fatalf("the host %q: %q, %v, and read slowly %q, %v", site, block, err, domain, isHost)
		}
		to, good := URLHost(url)
		wanted, ok2 := oracleURL(url)
		if good != ok2 || good && to != wanted {
			t.Fatalf("the URL %q: %q, %v, and read slowly %q, %v", url, to, good, wanted, ok2)
		}
		if isHost {
			at := Context{Blocks: []*Blocks{NewBlocks(nil, []string{block}, nil, false)}}
			if met := url != "" && (!ok2 || oracleUnder(wanted, domain)); at.BlocksURL(url) != met {
				t.Fatalf("a block of %q meets %q: %v", site, url, !met)
			}
		}
		if ok && ok2 && p.holds(Page{Host: to}) != oracleHolds(host, path, wanted, "") {
			t.Fatalf("%q holds %q: %v", site, url, p.holds(Page{Host: to}))
		}
		if ok {
			testWritten(t, p)
		}
		q, _, _ := oracleSite(url)
		if u, err := ParsePage(url); err == nil && ok && p.holds(u) != oracleHolds(host, path, q, u.Path) {
			t.Fatalf("%q holds %q: %v", site, url, p.holds(u))
		}
	})
}

// testWritten fails unless a page survives writing and reading, by itself and among a campaign's sites.
func testWritten(t *testing.T, p Page) {
	t.Helper()
	again, err := ParsePage(p.String())
	if err != nil || again != p || !p.holds(p) {
		t.Fatalf("%+v is written as %q, and read as %+v, %v", p, p, again, err)
	}
	if len(p.String()) > MaxPageBytes || !utf8.ValidString(p.Path) {
		return
	}
	written := Sites{Include: []Site{{p, Default}}}.JSON()
	if s, err := ParseSites([]byte(written)); err != nil || len(s.Include) != 1 || s.Include[0].Page != p {
		t.Fatalf("%s is read as %+v, %v", written, s, err)
	}
}
