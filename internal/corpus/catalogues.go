package corpus

import (
	"io/fs"
	"strings"
)

// catalogue reads the items of one source.
type catalogue struct {
	file string
	rows func(cell func(string) string) []item
}

// catalogues are the sources, in the order of their items' numbers.
var catalogues = []catalogue{
	{"catalogue/products_amazon_electronics.tsv", product("")},
	{"catalogue/products_abt.tsv", product("")},
	{"catalogue/products_amazon_software.tsv", product("software")},
	{"catalogue/offers_wdc_computers_cameras.tsv", offer},
	{"catalogue/products_online_retail_uk.tsv", gift},
	{"catalogue/bestbuy_categories.tsv", department},
	{"catalogue/wands_query_class.tsv", furniture},
	{"catalogue/cpv_categories_cs_en.tsv", procurement},
	{"catalogue/debian_packages_en_cs.tsv", debianPackage},
	{"catalogue/appstream_keywords_en_cs.tsv", application},
}

// readItems reads all catalogues that exist in files.
func readItems(files fs.FS) ([]item, error) {
	var items []item
	for _, c := range catalogues {
		err := table(files, c.file, func(cell func(string) string) {
			for _, it := range c.rows(cell) {
				if it.title != "" && it.advertiser != "" {
					items = append(items, it)
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return items, nil
}

// product returns a reader of a shop's products. The brand or, without one, the first word of the title is the
// advertiser. A campaign that is "" is found from the title later.
func product(campaign string) func(func(string) string) []item {
	return func(cell func(string) string) []item {
		title := cell("title")
		brand := cell("brand")
		if brand == "" {
			brand, _, _ = strings.Cut(title, " ")
		}
		return []item{{advertiser: brand, campaign: campaign, title: title, text: cell("description"),
			languages: "en", cents: centsOf(cell("price"))}}
	}
}

// offer reads a title of some web shop, which may contain remains of markup.
func offer(cell func(string) string) []item {
	title := cell("title")
	if first, _, found := strings.Cut(strings.TrimLeft(title, `" `), `"`); found {
		title = first
	}
	title = strings.TrimSpace(title)
	brand, _, _ := strings.Cut(title, " ")
	return []item{{advertiser: brand, campaign: cell("category"), title: title, languages: "en"}}
}

func gift(cell func(string) string) []item {
	return []item{{advertiser: "Online Retail UK", title: cell("description"), languages: "en",
		cents: centsOf(cell("median_price_gbp"))}}
}

func department(cell func(string) string) []item {
	top, _, _ := strings.Cut(cell("path"), " > ")
	return []item{{advertiser: "Best Buy", campaign: top, title: cell("name"),
		text: strings.ReplaceAll(cell("path"), " > ", " "), languages: "en"}}
}

// furniture uses real queries as titles: what a furniture shop would bid on.
func furniture(cell func(string) string) []item {
	class := cell("product_class")
	if class == "" {
		class = "Home"
	}
	return []item{{advertiser: "Wayfair", campaign: class, title: cell("query"), keywords: []string{cell("query")}, languages: "en"}}
}

func procurement(cell func(string) string) []item {
	division := cell("cpv_code")
	division = "cpv-" + division[:min(2, len(division))]
	return []item{
		{advertiser: division, campaign: "cs", title: cell("name_cs"), languages: "cs", czech: true},
		{advertiser: division, campaign: "en", title: cell("name_en"), languages: "en"},
	}
}

// telling lists the facets of debtags with values that people search for.
const telling = "use works-with works-with-format field game hardware network protocol science sound web works culture"

func debianPackage(cell func(string) string) []item {
	host := cell("homepage_host")
	if host == "" {
		host = "section " + cell("section")
	}
	name := cell("package")
	var tags []string
	for tag := range strings.SplitSeq(cell("debtags"), ", ") {
		facet, value, _ := strings.Cut(tag, "::")
		if value != "" && strings.Contains(telling, facet) {
			tags = append(tags, strings.ReplaceAll(strings.ReplaceAll(value, "-", " "), ":", " "))
		}
	}
	out := []item{{advertiser: host, campaign: cell("section"), title: name + " " + cell("short_description_en"),
		keywords: append([]string{name}, tags...), languages: "en", cents: centsOf(cell("installed_kib")) / 100}}
	if cs := cell("short_description_cs"); cs != "" {
		out = append(out, item{advertiser: host, campaign: cell("section") + " cs", title: name + " " + cs,
			keywords: []string{name}, languages: "en;cs", czech: true})
	}
	return out
}

func application(cell func(string) string) []item {
	host := cell("homepage_host")
	if host == "" {
		host = cell("package")
	}
	campaign, _, _ := strings.Cut(cell("categories"), ";")
	if campaign == "" {
		campaign = "Applications"
	}
	out := []item{{advertiser: host, campaign: campaign, title: cell("name_en") + " " + cell("summary_en"),
		text: cell("description_en"), keywords: list(cell("keywords_en")), languages: "en"}}
	if cs := cell("summary_cs"); cs != "" {
		out = append(out, item{advertiser: host, campaign: campaign + " cs", title: cell("name_cs") + " " + cs,
			text: cell("description_cs"), keywords: list(cell("keywords_cs")), languages: "en;cs", czech: true})
	}
	return out
}

func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ';' })
}
