%% -*- erlang -*-
%% The oracle of the codec's test: decodes frames (hexadecimal, one a line) with Erlang's ASN.1 codec from our module
%% J2735Subset.asn, prints the values as JSON, a tab, and the frame encoded anew from those values.
%%   escript oracle.escript FOLDER_OF_BEAM FILE

-mode(compile).

main([Beam, File]) ->
    true = code:add_patha(Beam),
    {ok, Text} = file:read_file(File),
    [answer(Line) || Line <- binary:split(Text, <<"\n">>, [global]), Line =/= <<>>].

answer(Hex) ->
    {ok, #{messageId := Id, value := Value} = Frame} = 'J2735Subset':decode('Frame', unhex(Hex)),
    Type = maps:get(Id, #{18 => 'MAP', 19 => 'SPAT', 20 => 'BSM', 22 => 'EVA', 27 => 'RSA', 28 => 'RTCM', 29 => 'SRM',
                          30 => 'SSM', 31 => 'TIM', 32 => 'PSM'}),
    {ok, Message} = 'J2735Subset':decode(Type, Value),
    {Shown, Sent} = case Type of 'BSM' -> parts(Message); _ -> {Message, Message} end,
    {ok, Again} = 'J2735Subset':encode(Type, Sent),
    {ok, Whole} = 'J2735Subset':encode('Frame', Frame#{value := Again}),
    io:format("~s\t~s~n", [json(none, Shown), hex(Whole)]).

%% Part II containers are decoded for what is shown, and encoded anew for what is sent.
parts(#{partII := Parts} = Message) ->
    Both = [part(P) || P <- Parts],
    {Message#{partII := [S || {S, _} <- Both]}, Message#{partII := [E || {_, E} <- Both]}};
parts(Message) -> {Message, Message}.

part(#{'partII-Id' := Id, 'partII-Value' := Octets} = Part) ->
    Type = element(Id + 1, {'VehicleSafetyExtensions', 'SpecialVehicleExtensions', 'SupplementalVehicleExtensions'}),
    {ok, Value} = 'J2735Subset':decode(Type, Octets),
    {ok, Again} = 'J2735Subset':encode(Type, Value),
    {#{'partII-Id' => Id, Type => Value}, Part#{'partII-Value' := Again}}.

json(_, Map) when is_map(Map) ->
    ["{", lists:join(",", [[quoted(atom_to_list(K)), ":", json(K, V)] || {K, V} <- maps:to_list(Map)]), "}"];
json(_, {Alternative, Value}) -> ["{", quoted(atom_to_list(Alternative)), ":", json(Alternative, Value), "}"];
json(_, Number) when is_integer(Number) -> integer_to_list(Number);
json(_, true) -> "true";
json(_, false) -> "false";
json(_, Name) when is_atom(Name) -> quoted(atom_to_list(Name));
json(Key, Octets) when is_binary(Octets), (Key =:= id orelse Key =:= regExtValue orelse Key =:= msgs orelse
                                           Key =:= entityID orelse Key =:= packetID) ->
    quoted(hex(Octets));
json(_, Bits) when is_bitstring(Bits) -> quoted([$0 + B || <<B:1>> <= Bits]);
json(Key, List) when is_list(List) ->
    case lists:member(Key, [name, movementName, processMethod, processAgency, lastCheckedDate, geoidUsed,
                            routeName, urlB, url, text]) of
        true -> quoted(List);
        false -> ["[", lists:join(",", [json(Key, Item) || Item <- List]), "]"]
    end.

quoted(Text) -> [$", [escaped(C) || C <- lists:flatten(Text)], $"].
escaped($") -> "\\\"";
escaped($\\) -> "\\\\";
escaped(C) -> C.

hex(Octets) -> [io_lib:format("~2.16.0B", [O]) || <<O>> <= Octets].
unhex(Text) -> << <<(list_to_integer([A, B], 16))>> || <<A, B>> <= Text >>.
