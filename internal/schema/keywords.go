package schema

// A keyword describes how the builder reads one keyword of JSON Schema.
type keyword struct {
	dialects Dialect
	// field returns a pointer to the keyword's field in the rules. The type of the field is also the required type of the
	// keyword's value.
	field func(*rules) any
	// on is the part of a value that the subschemas of the keyword apply to.
	on on
	// read reads a keyword whose value has several forms. It replaces field.
	read func(b *builder, n *node, key string, v value) error
}

const both = Draft202012 | Draft07

// keywords has every keyword that takes part in validation, and default. All other keywords are annotations: they stay
// in the raw schema and have no effect. Annotations include "format" and the content keywords, which assert nothing by
// default, and the keywords of the other dialect.
var keywords map[string]keyword

func init() { // not a literal, because builder methods read the table
	keywords = map[string]keyword{
		"$ref":           {dialects: both, read: (*builder).reference},
		"$dynamicRef":    {dialects: Draft202012, read: (*builder).reference},
		"$anchor":        {dialects: Draft202012, read: (*builder).anchor},
		"$dynamicAnchor": {dialects: Draft202012, read: (*builder).anchor},
		"$schema":        {dialects: both, read: (*builder).sameDialect},

		"$defs":         {dialects: both, read: (*builder).definitions},
		"definitions":   {dialects: both, read: (*builder).definitions},
		"contentSchema": {dialects: Draft202012, read: (*builder).definition},

		"default": {dialects: both, read: (*builder).fallback},

		"type":  {dialects: both, read: (*builder).types},
		"enum":  {dialects: both, read: (*builder).enum},
		"const": {dialects: both, read: (*builder).constant},

		"multipleOf":       {dialects: both, read: (*builder).multipleOf},
		"minimum":          {dialects: both, field: func(r *rules) any { return &r.minimum }},
		"maximum":          {dialects: both, field: func(r *rules) any { return &r.maximum }},
		"exclusiveMinimum": {dialects: both, field: func(r *rules) any { return &r.exclusiveMinimum }},
		"exclusiveMaximum": {dialects: both, field: func(r *rules) any { return &r.exclusiveMaximum }},

		"minLength": {dialects: both, field: func(r *rules) any { return &r.minLength }},
		"maxLength": {dialects: both, field: func(r *rules) any { return &r.maxLength }},
		"pattern":   {dialects: both, read: (*builder).pattern},

		"prefixItems":      {dialects: Draft202012, field: func(r *rules) any { return &r.prefix }, on: item},
		"items":            {dialects: both, read: (*builder).items},
		"additionalItems":  {dialects: Draft07, field: func(r *rules) any { return &r.more }, on: item},
		"unevaluatedItems": {dialects: Draft202012, field: func(r *rules) any { return &r.looseItems }, on: item},
		"contains":         {dialects: both, field: func(r *rules) any { return &r.contains }, on: item},
		"minContains":      {dialects: Draft202012, field: func(r *rules) any { return &r.minContains }},
		"maxContains":      {dialects: Draft202012, field: func(r *rules) any { return &r.maxContains }},
		"minItems":         {dialects: both, field: func(r *rules) any { return &r.minItems }},
		"maxItems":         {dialects: both, field: func(r *rules) any { return &r.maxItems }},
		"uniqueItems":      {dialects: both, field: func(r *rules) any { return &r.uniqueItems }},

		"properties":            {dialects: both, field: func(r *rules) any { return &r.properties }, on: property},
		"patternProperties":     {dialects: both, read: (*builder).patterns, on: property},
		"additionalProperties":  {dialects: both, field: func(r *rules) any { return &r.others }, on: property},
		"unevaluatedProperties": {dialects: Draft202012, field: func(r *rules) any { return &r.looseProps }, on: property},
		"propertyNames":         {dialects: both, field: func(r *rules) any { return &r.names }, on: name},
		"minProperties":         {dialects: both, field: func(r *rules) any { return &r.minProperties }},
		"maxProperties":         {dialects: both, field: func(r *rules) any { return &r.maxProperties }},
		"required":              {dialects: both, field: func(r *rules) any { return &r.required }},
		"dependentRequired":     {dialects: Draft202012, read: (*builder).dependencies},
		"dependentSchemas":      {dialects: Draft202012, field: func(r *rules) any { return &r.dependents }},
		"dependencies":          {dialects: Draft07, read: (*builder).dependencies},

		"allOf": {dialects: both, field: func(r *rules) any { return &r.allOf }},
		"anyOf": {dialects: both, field: func(r *rules) any { return &r.anyOf }},
		"oneOf": {dialects: both, field: func(r *rules) any { return &r.oneOf }},
		"not":   {dialects: both, field: func(r *rules) any { return &r.not }},
		"if":    {dialects: both, field: func(r *rules) any { return &r.cond }},
		"then":  {dialects: both, field: func(r *rules) any { return &r.then }},
		"else":  {dialects: both, field: func(r *rules) any { return &r.otherwise }},
	}
}
