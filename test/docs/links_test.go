package docs

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"

	"github.com/stretchr/testify/require"
)

var (
	fence   = regexp.MustCompile("(?ms)^[ >]*(```|~~~).*?^[ >]*(```|~~~)[ ]*$")
	span    = regexp.MustCompile("`[^`\n]*`")
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *#*$`)
	// link is an inline link or image; footnotes and reference links are not used in this tree.
	link     = regexp.MustCompile(`\]\(([^()\s]+)(?: "[^"]*")?\)`)
	linkText = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	absolute = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)
)

// anchors returns the anchors of a page's headings, made as the repository's host makes them:
// lower case, without punctuation, blanks as dashes, a number behind a repeated one.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		title := strings.ToLower(linkText.ReplaceAllString(m[1], "$1"))
		slug := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-', r == '_', unicode.IsLetter(r), unicode.IsNumber(r):
				return r
			default:
				return -1
			}
		}, title)
		name := slug
		for n := 1; found[name]; n++ {
			name = fmt.Sprintf("%s-%d", slug, n)
		}
		found[name] = true
	}
	return found
}

// links returns the relative links of a page, in order.
func links(text string) []string {
	var found []string
	text = span.ReplaceAllString(fence.ReplaceAllString(text, ""), "")
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		if !absolute.MatchString(m[1]) {
			found = append(found, m[1])
		}
	}
	return found
}

// broken returns the links of the tree's pages that lead nowhere, with their pages.
func broken(t *testing.T, tree fs.FS) []string {
	t.Helper()
	var wrong []string
	for _, page := range files(t, tree, ".md") {
		for _, to := range links(read(t, tree, page)) {
			file, anchor, hasAnchor := strings.Cut(to, "#")
			target := page
			if file != "" {
				target = path.Join(path.Dir(page), file)
			}
			if _, err := fs.Stat(tree, target); err != nil {
				wrong = append(wrong, page+" → "+to+": no such file")
			} else if hasAnchor && !anchors(read(t, tree, target))[anchor] {
				wrong = append(wrong, page+" → "+to+": no such heading")
			}
		}
	}
	return wrong
}

func TestLinksLeadSomewhere(t *testing.T) {
	require.Empty(t, broken(t, repository()))
}

func TestBrokenLinksAreFound(t *testing.T) {
	tree := fstest.MapFS{}
	for name, text := range map[string]string{
		"README.md": "# The `tool_call_id`, and more!\n## Same\n## Same\n```sh\n# Comment\n[x](in-a-fence.md)\n```\n" +
			"[a](docs/a.md) [b](docs) [c](#the-tool_call_id-and-more) [d](#same-1) [e](https://example.com/x.md#y)\n" +
			"[f](docs/b.md) [g](#same-2) [h](docs/a.md#comment) [i](#comment) `[j](code.md)` [![k](no.svg)](docs/a.md)\n",
		"docs/a.md": "# A [link](../README.md#same)\n[up](../README.md) [me](#a-link) [out](../../other.md)\n",
	} {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	require.Equal(t, []string{
		"README.md → docs/b.md: no such file",
		"README.md → #same-2: no such heading",
		"README.md → docs/a.md#comment: no such heading",
		"README.md → #comment: no such heading",
		"README.md → no.svg: no such file",
		"docs/a.md → ../../other.md: no such file",
	}, broken(t, tree))
}
