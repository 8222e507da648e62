package schema

import "github.com/google/jsonschema-go/jsonschema"

// A keyword is how one keyword of JSON Schema reaches the library.
type keyword struct {
	dialects Dialect
	// field returns a pointer to the library's field. Its type is also the
	// type that the keyword's value must have.
	field func(*jsonschema.Schema) any
	// on says where subschemas in the value apply.
	on on
	// read takes a value that has no one type. It replaces field.
	read func(b *builder, n *node, key string, v any) error
}

const both = Draft202012 | Draft07

type lib = jsonschema.Schema

// keywords has every keyword that takes part in validation. All others are
// annotations here: kept in the raw schema, and ignored. So are "format" and
// the content keywords, which assert nothing unless asked to, and the keywords
// of the other dialect.
var keywords map[string]keyword

func init() { // not a literal: builder methods read the table
	keywords = map[string]keyword{
		"$ref":           {dialects: both, read: (*builder).reference},
		"$dynamicRef":    {dialects: Draft202012, read: (*builder).reference},
		"$anchor":        {dialects: Draft202012, read: (*builder).anchor},
		"$dynamicAnchor": {dialects: Draft202012, read: (*builder).anchor},
		"$schema":        {dialects: both, read: (*builder).sameDialect},

		"$defs":         {dialects: both, read: (*builder).definitions},
		"definitions":   {dialects: both, read: (*builder).definitions},
		"contentSchema": {dialects: Draft202012, read: (*builder).definition},

		"type":  {dialects: both, read: (*builder).types},
		"enum":  {dialects: both, read: (*builder).enum},
		"const": {dialects: both, read: (*builder).constant},

		"multipleOf":       {dialects: both, read: (*builder).multipleOf},
		"minimum":          {dialects: both, field: func(s *lib) any { return &s.Minimum }},
		"maximum":          {dialects: both, field: func(s *lib) any { return &s.Maximum }},
		"exclusiveMinimum": {dialects: both, field: func(s *lib) any { return &s.ExclusiveMinimum }},
		"exclusiveMaximum": {dialects: both, field: func(s *lib) any { return &s.ExclusiveMaximum }},

		"minLength": {dialects: both, field: func(s *lib) any { return &s.MinLength }},
		"maxLength": {dialects: both, field: func(s *lib) any { return &s.MaxLength }},
		"pattern":   {dialects: both, read: (*builder).pattern},

		"prefixItems":      {dialects: Draft202012, field: func(s *lib) any { return &s.PrefixItems }, on: item},
		"items":            {dialects: both, read: (*builder).items},
		"additionalItems":  {dialects: Draft07, field: func(s *lib) any { return &s.AdditionalItems }, on: items},
		"unevaluatedItems": {dialects: Draft202012, field: func(s *lib) any { return &s.UnevaluatedItems }, on: looseItems},
		"contains":         {dialects: both, field: func(s *lib) any { return &s.Contains }, on: containing},
		"minContains":      {dialects: Draft202012, field: func(s *lib) any { return &s.MinContains }},
		"maxContains":      {dialects: Draft202012, field: func(s *lib) any { return &s.MaxContains }},
		"minItems":         {dialects: both, field: func(s *lib) any { return &s.MinItems }},
		"maxItems":         {dialects: both, field: func(s *lib) any { return &s.MaxItems }},
		"uniqueItems":      {dialects: both, field: func(s *lib) any { return &s.UniqueItems }},

		"properties":            {dialects: both, field: func(s *lib) any { return &s.Properties }, on: property},
		"patternProperties":     {dialects: both, field: func(s *lib) any { return &s.PatternProperties }, on: matching},
		"additionalProperties":  {dialects: both, field: func(s *lib) any { return &s.AdditionalProperties }, on: additional},
		"unevaluatedProperties": {dialects: Draft202012, field: func(s *lib) any { return &s.UnevaluatedProperties }, on: looseProps},
		"propertyNames":         {dialects: both, field: func(s *lib) any { return &s.PropertyNames }, on: names},
		"minProperties":         {dialects: both, field: func(s *lib) any { return &s.MinProperties }},
		"maxProperties":         {dialects: both, field: func(s *lib) any { return &s.MaxProperties }},
		"required":              {dialects: both, field: func(s *lib) any { return &s.Required }},
		"dependentRequired":     {dialects: Draft202012, read: (*builder).dependencies},
		"dependentSchemas":      {dialects: Draft202012, field: func(s *lib) any { return &s.DependentSchemas }},
		"dependencies":          {dialects: Draft07, read: (*builder).dependencies},

		"allOf": {dialects: both, field: func(s *lib) any { return &s.AllOf }},
		"anyOf": {dialects: both, field: func(s *lib) any { return &s.AnyOf }},
		"oneOf": {dialects: both, field: func(s *lib) any { return &s.OneOf }},
		"not":   {dialects: both, field: func(s *lib) any { return &s.Not }},
		"if":    {dialects: both, field: func(s *lib) any { return &s.If }},
		"then":  {dialects: both, field: func(s *lib) any { return &s.Then }},
		"else":  {dialects: both, field: func(s *lib) any { return &s.Else }},
	}
}
